// What Kueue says of a pod that it holds, and what to do.

import type { ObjectCondition } from '../kube/types.js';

/** Of kueue.x-k8s.io, what is read. */
export interface Workload {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly active?: boolean };
  readonly status?: {
    readonly conditions?: readonly ObjectCondition[];
    readonly admissionChecks?: readonly {
      readonly name: string;
      readonly state: string;
      readonly message?: string;
    }[];
  };
}

/** @param workload null: there is none; undefined: not known */
export function describeWorkload(pod: string, queue: string, workload: Workload | null | undefined): string {
  const held = `Kueue holds the pod ${pod} in the LocalQueue ${queue}`;
  if (workload === undefined)
    return `${held}; the operator may not read its Workload, which says why (kubectl get workloads).`;
  if (workload === null) return `${held} and has no Workload for it yet. Check that Kueue runs.`;
  const { metadata, spec, status = {} } = workload;
  if (spec?.active === false)
    return `${held}: its Workload ${metadata.name} is deactivated. Set its spec.active to true.`;
  const of = (type: string): ObjectCondition | undefined =>
    status.conditions?.find((condition) => condition.type === type);
  const reserved = of('QuotaReserved');
  if (reserved?.status === 'True') {
    const open = (status.admissionChecks ?? []).filter(({ state }) => state !== 'Ready');
    const checks = open.map(({ name, message = '' }) => (message === '' ? name : `${name} (${message})`));
    return checks.length === 0
      ? `${held}: it has its quota and is about to be admitted.`
      : `${held}: it has its quota and waits for admission checks: ${checks.join(', ')}.`;
  }
  const evicted = of('Evicted');
  const before = evicted?.status === 'True' ? ` It was evicted before: ${sentence(evicted.message)}` : '';
  const words = sentence(reserved?.message ?? 'nothing is said of its quota yet');
  return `${held}: ${words}${before} ${remedyOf(words)}`;
}

function remedyOf(words: string): string {
  if (/LocalQueue|ClusterQueue/.test(words)) return 'Correct spec.queueName, or create the queue.';
  return words.includes('maximum capacity')
    ? 'Ask for less, or have the quota of its ClusterQueue raised.'
    : 'It is admitted once others of its ClusterQueue release as much.';
}

function sentence(text = 'no message'): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
