// One manifest of a gateway of models as the operator would take it: its spec, who answers for its models among the services
// of the same manifests, and its objects. What the cluster has besides is not asked. Pure.

import { stringify } from 'yaml';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { planGatewayChildren } from '../plan/gateway/gateway-children.js';
import { routeModels } from '../plan/gateway/route-models.js';
import { noLimits } from '../plan/tenant-limits.js';
import { planRouting, type Gateway, type RoutingCapabilities } from '../plan/traffic/routing.js';
import { parseGateway } from '../resource/parse-gateway.js';
import type { Verdict } from './exit-codes.js';
import type { Manifest } from './read-manifests.js';

export interface GatewayReport {
  readonly gateway: string;
  readonly source: string;
  readonly verdict: Verdict & ('fits' | 'invalid');
  /** What is wrong, each with its field. */
  readonly problems: readonly string[];
  readonly models: readonly { readonly name: string; readonly service: string }[];
  /** Services that it names and that are none of the manifests': the cluster may have them. */
  readonly elsewhere: readonly string[];
  /** With the models above; none where the manifest is wrong. */
  readonly objects: readonly KubeObject[];
}

/** Where nobody said which image the operator's is. */
const unknownImage = 'IMAGE-OF-THE-OPERATOR';

/** @param carrier of its public route; null: not known, and none is planned */
export function planGateway(
  { source, object }: Manifest,
  services: readonly Manifest[],
  carrier: Gateway | null = null,
): GatewayReport {
  const report = { gateway: keyOf(object), source, models: [], elsewhere: [], objects: [] };
  const parsed = parseGateway(object);
  if (!parsed.ok) return { ...report, verdict: 'invalid', problems: parsed.violations.map(shown) };
  const { gateway } = parsed;
  const near = services
    .map((each) => each.object)
    .filter(({ metadata }) => metadata.namespace === gateway.namespace);
  // Whether a ConfigMap of authorities is there is not asked.
  const { routes, states, problems } = routeModels(gateway, near, () => ({ state: 'known', pem: '' }));
  const named = (gateway.spec.models ?? []).map(({ service }) => service);
  const elsewhere = [...new Set(named)].filter(
    (name) => !near.some(({ metadata }) => metadata.name === name),
  );
  // Where services are elsewhere, so may be what a fallback names.
  const isWhole = elsewhere.length === 0 && gateway.spec.serviceSelector === undefined;
  const certain = isWhole ? problems : [];
  const { namespace, name, spec } = gateway;
  const usable = { ...offline, gateway: carrier };
  const routing = planRouting({ namespace, spec: { routing: spec.routing, tls: {} } }, usable);
  const table = { gateway: `${namespace}/${name}`, models: routes };
  const objects = planGatewayChildren(gateway, {
    ...{ image: unknownImage, table },
    routing: routing.state === 'planned' ? routing : null,
  });
  return {
    ...{
      ...report,
      elsewhere,
      objects: certain.length > 0 ? [] : objects,
      models: states.map(({ name, service }) => ({ name, service })),
    },
    verdict: certain.length > 0 ? 'invalid' : 'fits',
    problems: certain.map(shown),
  };
}

/** As of a cluster that has all that a route may need. */
const offline: Omit<RoutingCapabilities, 'gateway'> = {
  ...{ istioGateway: null, gatewayApi: true, backendTls: true, istio: false, hostTaken: false },
  ...{ limits: noLimits, authority: { state: 'none' } },
};

export function describeGatewayPlan(report: GatewayReport, withObjects = false): string {
  const { gateway, source, problems, models, elsewhere, objects } = report;
  const outcome = problems.length > 0 ? 'the manifest is wrong' : 'can be served';
  return [
    `${gateway}: ${outcome} (${source})`,
    ...problems.map((problem) => `  ${problem}`),
    ...models.map(({ name, service }) => `  model        ${name}: ${service}`),
    ...(elsewhere.length === 0
      ? []
      : [`  elsewhere    ${elsewhere.join(', ')}: not in these manifests, and not asked of the cluster`]),
    ...(withObjects ? objects.map((object) => `---\n${stringify(object).trimEnd()}`) : []),
  ].join('\n');
}

function shown({ path, message }: { readonly path: string; readonly message: string }): string {
  return `${path} ${message}`.trim();
}
