// Whether a node is one that a pod may run on: its taints, the pod's nodeSelector and required node affinity. Affinity
// between pods and topology spread are the scheduler's: what they forbid shows when it finds no node.

import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
  Taint,
  Toleration,
} from '../../kube/types.js';

export interface NodeTraits {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

export function mayRunOn(pod: PodSpec, node: NodeTraits): boolean {
  const tolerated = node.taints.every(
    (taint) =>
      taint.effect === 'PreferNoSchedule' || (pod.tolerations ?? []).some((each) => tolerates(each, taint)),
  );
  const selected = Object.entries(pod.nodeSelector ?? {}).every(([key, value]) => node.labels[key] === value);
  const terms = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return tolerated && selected && (terms === undefined || terms.some((term) => matches(term, node)));
}

export function tolerates(
  { key, operator = 'Equal', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === undefined || key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

/** An empty term matches nothing. */
function matches({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: NodeTraits): boolean {
  const fields = { 'metadata.name': node.name };
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((each) => holds(each, node.labels)) &&
    matchFields.every((each) => holds(each, fields))
  );
}

function holds(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** As kubectl writes it: KEY=VALUE:EFFECT. */
export function taintText({ key, value = '', effect }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}
