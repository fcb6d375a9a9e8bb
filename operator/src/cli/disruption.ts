// What becomes of running pods when a planned service is applied over what the cluster has. Pure.

import type { Deployment, KubeObject } from '../kube/types.js';
import { revisionAnnotation } from '../plan/pod-template.js';

export type Disruption =
  /** There was no cluster to compare with; `onChange` is what a change of the pods would do. */
  | { readonly kind: 'unknown'; readonly onChange: 'surge' | 'drain' }
  | { readonly kind: 'create' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'scale'; readonly from: number; readonly to: number }
  /** A new pod serves before an old one ends. */
  | { readonly kind: 'surge' }
  /** An old pod drains and ends before its devices are free for the new one. */
  | { readonly kind: 'drain' };

interface Rolling {
  readonly replicas?: number;
  readonly strategy?: { readonly rollingUpdate?: { readonly maxSurge?: number | string } };
}

/** @param live null: the cluster has none; undefined: it was not asked */
export function disruptionOf(
  planned: KubeObject,
  revision: string,
  live: Deployment | null | undefined,
): Disruption {
  const { replicas = 1, strategy } = planned['spec'] as Rolling;
  const surges = strategy?.rollingUpdate?.maxSurge;
  const onChange = surges === 0 || surges === undefined ? 'drain' : 'surge';
  if (live === undefined) return { kind: 'unknown', onChange };
  if (live === null) return { kind: 'create' };
  const before = live.spec?.replicas ?? 1;
  const same = live.spec?.template?.metadata?.annotations?.[revisionAnnotation] === revision;
  if (!same && before > 0) return { kind: onChange };
  return before === replicas ? { kind: 'nothing' } : { kind: 'scale', from: before, to: replicas };
}

export function describeDisruption(disruption: Disruption): string {
  switch (disruption.kind) {
    case 'unknown':
      return disruption.onChange === 'surge'
        ? 'a change of the pods surges: new ones serve before old ones end (--diff compares with a cluster)'
        : 'a change of the pods drains: an old one ends before its devices are taken (--diff compares with a cluster)';
    case 'create':
      return 'nothing runs yet: everything is created';
    case 'nothing':
      return 'nothing: pods stay as they are';
    case 'scale':
      return `pods stay; replicas go from ${disruption.from} to ${disruption.to}`;
    case 'surge':
      return 'surge: a new pod serves before an old one ends';
    case 'drain':
      return 'drain: an old pod finishes what it runs and ends before its devices go to the new one';
  }
}
