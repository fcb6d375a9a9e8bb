// The operator's view of the cluster: one reflector per resource, and for every change the services it may concern.

import { fieldManager, labels } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { resources, type Resource } from '../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject, Pod, VirtualService } from '../kube/types.js';
import { OptionalApi } from './optional-api.js';
import { Reflector } from './reflector.js';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly namespace: string | null;
  readonly logger: Logger;
  /** A service (namespace/name) that may have to be looked at. */
  readonly onChange: (key: string) => void;
  readonly silenceMs?: number;
}

export class Caches {
  readonly llmServices: Reflector;
  readonly pods: Reflector;
  private readonly children: ReadonlyMap<string, Reflector>;
  private readonly always: readonly Reflector[];
  private readonly optional: { readonly gatewayApi: OptionalApi; readonly istio: OptionalApi };

  constructor(private readonly options: CachesOptions) {
    const { client, namespace, logger, silenceMs } = options;
    const common = { client, namespace, logger, ...(silenceMs === undefined ? {} : { silenceMs }) };
    this.llmServices = new Reflector({
      ...common,
      resource: resources.llmServices,
      onChange: ({ metadata }) => options.onChange(`${metadata.namespace ?? ''}/${metadata.name}`),
    });
    const owned = (resource: Resource, labelSelector: string): Reflector =>
      new Reflector({ ...common, resource, labelSelector, onChange: (object) => this.changed(object) });
    this.pods = owned(resources.pods, labels.service);
    const mine = `${labels.managedBy}=${fieldManager},${labels.service}`;
    const { deployments, services, configMaps, disruptionBudgets } = resources;
    const builtIn = [deployments, services, configMaps, disruptionBudgets].map(
      (resource) => ({ resource, reflector: owned(resource, mine) }) as const,
    );
    const routesOf = (watched: readonly Resource[]) =>
      watched.map((resource) => ({ resource, reflector: owned(resource, mine) }));
    const gatewayApi = routesOf([resources.httpRoutes]);
    const istio = routesOf([resources.virtualServices, resources.destinationRules]);
    this.children = new Map(
      [...builtIn, ...gatewayApi, ...istio].map(({ resource, reflector }) => [resource.kind, reflector]),
    );
    this.always = [this.llmServices, this.pods, ...builtIn.map(({ reflector }) => reflector)];
    const onFound = (): void => this.changedAll();
    this.optional = {
      gatewayApi: new OptionalApi({ client, logger, watched: gatewayApi, onFound }),
      istio: new OptionalApi({ client, logger, watched: istio, onFound }),
    };
  }

  /** Whether the cluster knows HTTPRoute. */
  get gatewayApi(): boolean {
    return this.optional.gatewayApi.found;
  }

  /** Whether the cluster knows VirtualService. */
  get istio(): boolean {
    return this.optional.istio.found;
  }

  /** Starts all watches; settles when the first lists are in. */
  async start(signal: AbortSignal): Promise<void> {
    for (const reflector of this.always) void reflector.run(signal);
    await Promise.all(Object.values(this.optional).map((api) => api.look(signal)));
    await Promise.all(this.always.map((reflector) => reflector.ready));
  }

  live(desired: KubeObject): KubeObject | null {
    return (
      this.children.get(desired.kind)?.get(desired.metadata.namespace ?? '', desired.metadata.name) ?? null
    );
  }

  remember(object: KubeObject): void {
    if (object.kind === resources.llmServices.kind) this.llmServices.remember(object);
    else this.children.get(object.kind)?.remember(object);
  }

  deployment(namespace: string, name: string): Deployment | null {
    return (
      (this.children.get(resources.deployments.kind)?.get(namespace, name) as
        Deployment | null | undefined) ?? null
    );
  }

  /** The route of a service, and whatever belongs to it, by whichever provider. */
  routes(namespace: string, name: string): KubeObject[] {
    return [resources.httpRoutes, resources.virtualServices, resources.destinationRules]
      .map(({ kind }) => this.children.get(kind)?.get(namespace, name) ?? null)
      .filter((object) => object !== null);
  }

  httpRoute(namespace: string, name: string): HttpRoute | null {
    return this.children.get(resources.httpRoutes.kind)?.get(namespace, name) ?? null;
  }

  virtualService(namespace: string, name: string): VirtualService | null {
    return this.children.get(resources.virtualServices.kind)?.get(namespace, name) ?? null;
  }

  podsOf(namespace: string, service: string): Pod[] {
    return this.ofService(this.pods, namespace, service);
  }

  configMapsOf(namespace: string, service: string): KubeObject[] {
    const reflector = this.children.get(resources.configMaps.kind);
    return reflector === undefined ? [] : this.ofService(reflector, namespace, service);
  }

  private ofService(reflector: Reflector, namespace: string, service: string): KubeObject[] {
    return reflector
      .labelled(labels.service, service)
      .filter(({ metadata }) => metadata.namespace === namespace)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  private changedAll(): void {
    for (const { metadata } of this.llmServices.values())
      this.options.onChange(`${metadata.namespace ?? ''}/${metadata.name}`);
  }

  private changed({ metadata }: KubeObject): void {
    const service = metadata.labels?.[labels.service];
    if (service !== undefined) this.options.onChange(`${metadata.namespace ?? ''}/${service}`);
  }
}
