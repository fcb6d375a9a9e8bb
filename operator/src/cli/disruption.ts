// What becomes of running pods when a planned service is applied over what the cluster has. Pure.

import { annotations } from '@llmservice/crds';
import type { Deployment } from '../kube/types.js';
import type { Replacement } from '../plan/rollouts/replacement.js';

export type Disruption =
  /** There was no cluster to compare with; `onChange` is what a change of the pods would do, null: that depends. */
  | { readonly kind: 'unknown'; readonly onChange: Replacement | null }
  | { readonly kind: 'create' }
  | { readonly kind: 'nothing' }
  /** The stable pods stay until the change has passed its steps. */
  | { readonly kind: 'canary' }
  | { readonly kind: 'scale'; readonly from: number; readonly to: number }
  | { readonly kind: Replacement };

export interface PlannedPods {
  readonly revision: string;
  readonly replicas: number;
  /** Null: by what is free on the nodes, which nobody has read. */
  readonly replacement: Replacement | null;
  /** Whether a change is tried on a part of the requests first. */
  readonly isTried?: boolean;
}

/** @param live null: the cluster has none; undefined: it was not asked */
export function disruptionOf(
  { revision, replicas, replacement, isTried = false }: PlannedPods,
  live: Deployment | null | undefined,
): Disruption {
  if (live === undefined && isTried) return { kind: 'canary' };
  if (live === undefined) return { kind: 'unknown', onChange: replacement };
  if (live === null) return { kind: 'create' };
  const before = live.spec?.replicas ?? 1;
  const same = live.spec?.template?.metadata?.annotations?.[annotations.revision] === revision;
  if (!same && isTried) return { kind: 'canary' };
  if (!same && before > 0 && replacement !== null) return { kind: replacement };
  return before === replicas ? { kind: 'nothing' } : { kind: 'scale', from: before, to: replicas };
}

const ways: Record<Replacement, string> = {
  surge: 'a new pod serves before an old one ends',
  drain: 'an old pod finishes what it runs and ends before its devices go to the new one',
  drainAll: 'all old pods finish what they run and end before there is room for a new one',
};

export function describeDisruption(disruption: Disruption): string {
  switch (disruption.kind) {
    case 'unknown': {
      const { onChange } = disruption;
      const way =
        onChange === null ? 'surges where a node has room for one more, else drains' : ways[onChange];
      return `a change of the pods: ${way} (--diff reads a cluster)`;
    }
    case 'create':
      return 'nothing runs yet: everything is created';
    case 'nothing':
      return 'nothing: pods stay as they are';
    case 'canary':
      return 'canary: pods stay, and those of the change are tried beside them';
    case 'scale':
      return `pods stay; replicas go from ${disruption.from} to ${disruption.to}`;
    default:
      return `${disruption.kind}: ${ways[disruption.kind]}`;
  }
}
