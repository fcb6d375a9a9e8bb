// What an HTTPRoute gives each backend, by the header that its rules match.

import type { KubeObject } from '../../operator/src/kube/types.js';

interface Rule {
  readonly matches: { headers?: { value: string }[] }[];
  readonly backendRefs: { name: string; weight: number }[];
}

/** Weights of backends by name; of the rule without a header under `others`. */
export function weightsByHeader(route: KubeObject | null): Record<string, Record<string, number>> {
  const { rules } = route?.['spec'] as { rules: Rule[] };
  const weights = ({ backendRefs }: Rule) =>
    Object.fromEntries(backendRefs.map((ref) => [ref.name, ref.weight]));
  return Object.fromEntries(
    rules.map((rule) => [rule.matches[0]?.headers?.[0]?.value ?? 'others', weights(rule)]),
  );
}
