// One manifest of a gateway of models as the operator would take it: its spec, and who answers for its models among the
// services of the same manifests. What the cluster has besides is not asked. Pure.

import { keyOf } from '../kube/resources.js';
import { routeModels } from '../plan/gateway/route-models.js';
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
}

export function planGateway({ source, object }: Manifest, services: readonly Manifest[]): GatewayReport {
  const report = { gateway: keyOf(object), source, models: [], elsewhere: [] };
  const parsed = parseGateway(object);
  if (!parsed.ok) return { ...report, verdict: 'invalid', problems: parsed.violations.map(shown) };
  const { gateway } = parsed;
  const near = services
    .map((each) => each.object)
    .filter(({ metadata }) => metadata.namespace === gateway.namespace);
  // Whether a ConfigMap of authorities is there is not asked.
  const { states, problems } = routeModels(gateway, near, () => ({ state: 'known', pem: '' }));
  const named = (gateway.spec.models ?? []).map(({ service }) => service);
  const elsewhere = [...new Set(named)].filter(
    (name) => !near.some(({ metadata }) => metadata.name === name),
  );
  // Where services are elsewhere, so may be what a fallback names.
  const isWhole = elsewhere.length === 0 && gateway.spec.serviceSelector === undefined;
  const certain = isWhole ? problems : [];
  return {
    ...{ ...report, elsewhere, models: states.map(({ name, service }) => ({ name, service })) },
    verdict: certain.length > 0 ? 'invalid' : 'fits',
    problems: certain.map(shown),
  };
}

export function describeGatewayPlan({ gateway, source, problems, models, elsewhere }: GatewayReport): string {
  const outcome = problems.length > 0 ? 'the manifest is wrong' : 'can be served';
  return [
    `${gateway}: ${outcome} (${source})`,
    ...problems.map((problem) => `  ${problem}`),
    ...models.map(({ name, service }) => `  model        ${name}: ${service}`),
    ...(elsewhere.length === 0
      ? []
      : [`  elsewhere    ${elsewhere.join(', ')}: not in these manifests, and not asked of the cluster`]),
  ].join('\n');
}

function shown({ path, message }: { readonly path: string; readonly message: string }): string {
  return `${path} ${message}`.trim();
}
