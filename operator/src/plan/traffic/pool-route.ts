// What an HTTPRoute and its gateway's status say of the InferencePool that it leads to: whether completions go there, whether
// the gateway takes it, and whose gateway it is. A gateway is asked by a rule whose header no client sends.

import { resources } from '../../kube/resources.js';
import type { HttpRoute } from '../../kube/types.js';

/** Of the rule that asks: `/v1/chat/completions` with this header alone goes to the pool. */
const questionHeader = { type: 'Exact', name: 'llmservice-pool', value: 'asked' } as const;

interface Match {
  readonly path: object;
  readonly headers?: readonly { readonly name: string }[];
}
interface Rule {
  readonly matches?: readonly Match[];
  readonly backendRefs?: readonly object[];
}

/** These rules for requests with the header alone. */
export function poolQuestion<T extends { readonly matches: readonly object[] }>(rules: readonly T[]): T[] {
  return rules.map((rule) => ({
    ...rule,
    matches: rule.matches.map((match) => ({ ...match, headers: [questionHeader] })),
  }));
}

/** Whether completions go to a pool by it. */
export function leadsToPool(route: HttpRoute | null): boolean {
  return poolRules(route).some(({ matches = [] }) => matches.some((match) => !asks(match)));
}

/** Whether the gateway says of the route as it now is that it leads to the pool. */
export function gatewayTakes(route: HttpRoute | null, gateway: string): boolean {
  if (poolRules(route).length === 0) return false;
  const { generation = 0 } = route?.metadata ?? {};
  return parentsOf(route, gateway).some(({ conditions = [] }) => {
    const current = conditions.filter(({ observedGeneration = 0 }) => observedGeneration >= generation);
    const says = (type: string): string | undefined => current.find((each) => each.type === type)?.status;
    return says('Accepted') === 'True' && says('ResolvedRefs') === 'True';
  });
}

/** Whether istio's controller keeps the gateway. */
export function madeByIstio(route: HttpRoute | null, gateway: string): boolean {
  return parentsOf(route, gateway).some(({ controllerName }) => controllerName.startsWith('istio.io/'));
}

function poolRules(route: HttpRoute | null): readonly Rule[] {
  const { rules = [] } = (route?.['spec'] ?? {}) as { readonly rules?: readonly Rule[] };
  return rules.filter(({ backendRefs }) =>
    JSON.stringify(backendRefs ?? []).includes(`"${resources.inferencePools.kind}"`),
  );
}

function asks({ headers = [] }: Match): boolean {
  return headers.some(({ name }) => name === questionHeader.name);
}

function parentsOf(route: HttpRoute | null, gateway: string) {
  return route?.status?.parents?.filter(({ parentRef }) => parentRef.name === gateway) ?? [];
}
