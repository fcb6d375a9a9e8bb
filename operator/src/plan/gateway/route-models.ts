// Which service answers for each model of a gateway: those that its spec lists, and all names of the services that it selects.
// What cannot be routed is said with its field, and keeps nothing else from being routed.

import type { GatewayModel, LlmServiceSpec, LlmServiceStatus, Violation } from '@llmservice/crds';
import type { ModelRoute } from '../../domain/route-table.js';
import type { WantedGateway } from '../../domain/wanted-gateway.js';
import type { KubeObject } from '../../kube/types.js';
import { servicePort } from '../pods/container-parts.js';
import { podHostname, type PodAuthority } from '../traffic/pod-authority.js';

export type ModelState = 'Ready' | 'Asleep' | 'NotReady' | 'Unresolved';

export interface RoutedModels {
  readonly routes: readonly ModelRoute[];
  /** In the order of the routes, with those that are not routed behind them. */
  readonly states: readonly { readonly name: string; readonly service: string; readonly state: ModelState }[];
  readonly problems: readonly Violation[];
}

/** What of a service matters to a gateway. */
interface Backend {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly modelName: string;
  readonly aliases: readonly string[];
  readonly adapters: readonly string[];
  readonly isVllm: boolean;
  readonly url: string;
  readonly authority: PodAuthority | null;
  readonly state: ModelState;
}

/**
 * @param services of the gateway's namespace
 * @param authorityOf by what pods of a service that speak HTTPS are verified
 */
export function routeModels(
  { namespace, spec }: Pick<WantedGateway, 'namespace' | 'spec'>,
  services: readonly KubeObject[],
  authorityOf: (service: string) => PodAuthority,
): RoutedModels {
  const backends = services
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((service) => backendOf(service, authorityOf))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const problems: Violation[] = [];
  const listed = (spec.models ?? []).map((model, index) => {
    const path = `spec.models[${String(index)}]`;
    const backend = backends.find(({ name }) => name === model.service);
    const found = backend === undefined ? missing(model, namespace) : problemsOf(model, backend);
    problems.push(...found.map(({ path: field, message }) => ({ path: `${path}.${field}`, message })));
    return { model, path, backend: found.length > 0 ? undefined : backend };
  });
  const routes = listed.flatMap(({ model, backend }) =>
    backend === undefined ? [] : [{ route: listedRoute(model, backend), backend }],
  );
  // Of those too that are not resolved: who took over their names would be seen by whom they are hidden from.
  const taken = new Map(
    listed.flatMap(({ model }) => namesOf(model).map((name) => [name, model.service] as const)),
  );
  const isSelected = selectorOf(spec);
  for (const backend of backends.filter(({ labels }) => isSelected(labels))) {
    const unverified = verification(backend);
    if (unverified !== null) problems.push({ path: 'spec.serviceSelector', message: unverified });
    else {
      const visibleTo = restriction(spec.models ?? [], backend.name);
      const own = ownRoutes(backend, taken, problems);
      routes.push(...own.map((route) => ({ route: { ...route, visibleTo }, backend })));
    }
  }
  const byName = new Map(routes.flatMap((each) => namesOf(each.route).map((name) => [name, each] as const)));
  for (const { model, path } of listed) {
    for (const [index, name] of (model.fallback ?? []).entries()) {
      const message = unfit(name, model, byName.get(name)?.backend);
      if (message !== null) problems.push({ path: `${path}.fallback[${String(index)}]`, message });
    }
  }
  return {
    routes: routes.map(({ route }) => ({
      ...route,
      fallback: route.fallback.filter((name) => unfit(name, route, byName.get(name)?.backend) === null),
    })),
    states: [
      ...routes.map(({ route: { name, service }, backend: { state } }) => ({ name, service, state })),
      ...listed.flatMap(({ model: { name, service }, backend }) =>
        backend === undefined ? [{ name, service, state: 'Unresolved' as const }] : [],
      ),
    ],
    problems,
  };
}

/** Services that the gateway names or selects. */
export function concernedServices(
  spec: WantedGateway['spec'],
  services: readonly KubeObject[],
): KubeObject[] {
  const { models = [] } = spec;
  const isSelected = selectorOf(spec);
  return services.filter(
    ({ metadata: { name, labels = {} } }) =>
      isSelected(labels) || models.some(({ service }) => service === name),
  );
}

/** An older CRD does not fill in all of its spec. */
export function backendOf(service: KubeObject, authorityOf: (service: string) => PodAuthority): Backend {
  const { name, namespace = '', labels = {}, creationTimestamp = '' } = service.metadata;
  const { model, adapters = [], tls, engine } = (service['spec'] ?? {}) as Partial<LlmServiceSpec>;
  const scheme = tls?.secretRef === undefined ? 'http' : 'https';
  return {
    ...{ name, labels, createdAt: creationTimestamp },
    modelName: model?.name ?? name,
    aliases: model?.aliases ?? [],
    adapters: adapters.map((adapter) => adapter.name),
    isVllm: engine?.runtime === 'vllm',
    url: `${scheme}://${podHostname({ name, namespace })}:${String(servicePort(scheme))}`,
    authority: scheme === 'https' ? authorityOf(name) : null,
    state: stateOf(service),
  };
}

function stateOf(service: KubeObject): ModelState {
  const { conditions = [] } = (service['status'] ?? {}) as LlmServiceStatus;
  const serving = conditions.find(({ type }) => type === 'Serving');
  if (serving?.status === 'True') return 'Ready';
  return serving?.reason === 'Asleep' ? 'Asleep' : 'NotReady';
}

/** Whether a service with these labels is served by its own names. */
function selectorOf({
  models,
  serviceSelector,
}: WantedGateway['spec']): (labels: Readonly<Record<string, string>>) => boolean {
  if (serviceSelector === undefined) return () => models === undefined;
  const wanted = Object.entries(serviceSelector.matchLabels);
  return (labels) => wanted.every(([key, value]) => labels[key] === value);
}

function missing({ service }: GatewayModel, namespace: string): Violation[] {
  const message = `names LlmService ${service}, which does not exist in ${namespace}; create it, or correct the name`;
  return [{ path: 'service', message }];
}

/** Why a service cannot answer for a model, with fields of the model. */
function problemsOf({ name, aliases = [] }: GatewayModel, backend: Backend): Violation[] {
  const { name: service, adapters, isVllm } = backend;
  const unverified = verification(backend);
  if (unverified !== null) return [{ path: 'service', message: unverified }];
  const all = [name, ...aliases];
  const unknown = isVllm ? all.filter((each) => !servedBy(backend).includes(each)) : [];
  const [first] = unknown;
  if (first !== undefined) {
    const message = `${service} runs vLLM, which answers to names of its own alone; add ${first} to its model.aliases`;
    return [{ path: first === name ? 'name' : 'aliases', message }];
  }
  if (adapters.includes(name) && aliases.length > 0) {
    const message = `${name} is an adapter of ${service}, known by its own name alone; remove its aliases`;
    return [{ path: 'aliases', message }];
  }
  return [];
}

/** Null: its pods can be verified, or speak plain HTTP. */
function verification({ name, authority }: Backend): string | null {
  if (authority === null || authority.state === 'known') return null;
  return `names ${name}, whose pods speak HTTPS, and nothing verifies them; set its tls.caConfigMapRef to a ConfigMap with ca.crt`;
}

/** Why a model cannot answer instead of another; null: it can. */
function unfit(
  name: string,
  { name: own, aliases = [] }: Pick<GatewayModel, 'name'> & { readonly aliases?: readonly string[] },
  backend: Backend | undefined,
): string | null {
  if (backend === undefined)
    return `names ${name}, which is no model of this gateway; add it, or correct the name`;
  if (backend.adapters.includes(name)) {
    return `names ${name}, an adapter, which answers to its own name alone; name a model`;
  }
  const strange = [own, ...aliases].find((each) => !servedBy(backend).includes(each));
  if (!backend.isVllm || strange === undefined) return null;
  return `names ${name} of ${backend.name}, which runs vLLM and answers to names of its own alone; add ${strange} to its model.aliases`;
}

function servedBy({ modelName, aliases, adapters }: Backend): string[] {
  return [modelName, ...aliases, ...adapters];
}

function namesOf({ name, aliases = [] }: Pick<ModelRoute, 'name'> & Partial<ModelRoute>): string[] {
  return [name, ...aliases];
}

function listedRoute(
  { name, aliases = [], fallback = [], visibleTo }: GatewayModel,
  backend: Backend,
): ModelRoute {
  return { ...routeTo(name, backend), aliases, fallback, visibleTo: visibleTo ?? null };
}

/**
 * Who may see a service by its own names: by all that its listed models name, since what is hidden by one name is meant
 * to be hidden. Null: all keys.
 */
function restriction(models: readonly GatewayModel[], backend: string): readonly string[] | null {
  const [first, ...others] = models.flatMap(({ service, visibleTo }) =>
    service === backend && visibleTo !== undefined ? [visibleTo] : [],
  );
  if (first === undefined) return null;
  return first.filter((who) => others.every((visibleTo) => visibleTo.includes(who)));
}

/** Each name once: of several services that serve it the oldest answers. */
function ownRoutes(backend: Backend, taken: Map<string, string>, problems: Violation[]): ModelRoute[] {
  const free = (name: string): boolean => {
    const owner = taken.get(name);
    if (owner === undefined) taken.set(name, backend.name);
    else if (owner !== backend.name) {
      const message = `selects ${owner} and ${backend.name}, which both serve ${name}: ${owner} answers; list it in models, or rename it`;
      problems.push({ path: 'spec.serviceSelector', message });
    }
    return owner === undefined;
  };
  const names = [backend.modelName, ...backend.aliases].filter(free);
  const [name, ...aliases] = names;
  return [
    ...(name === undefined ? [] : [{ ...routeTo(name, backend), aliases }]),
    ...backend.adapters.filter(free).map((adapter) => routeTo(adapter, backend)),
  ];
}

function routeTo(name: string, backend: Backend): ModelRoute {
  const { authority, createdAt, url } = backend;
  return {
    ...{ name, url, service: backend.name, aliases: [], fallback: [], visibleTo: null },
    ca: authority?.state === 'known' ? authority.pem : null,
    served: servedBy(backend),
    created: Math.floor(Date.parse(createdAt) / 1000) || 0,
  };
}

function rank({ createdAt, name }: Backend): string {
  return `${createdAt} ${name}`;
}
