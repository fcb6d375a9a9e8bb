// What becomes of running pods when a planned service is applied over what the cluster has. Pure.

import { annotations } from '@llmservice/crds';
import type { Deployment } from '../kube/types.js';
import type { Replacement } from '../plan/rollouts/replacement.js';

export type Disruption =
  /** There was no cluster to compare with; `onChange` is what a change of the pods would do, null: that depends. */
  | { readonly kind: 'unknown'; readonly onChange: Replacement | null; readonly groups?: Groups }
  | { readonly kind: 'create' }
  | { readonly kind: 'nothing' }
  /** The stable pods stay until the change has passed its steps. */
  | { readonly kind: 'canary' }
  | { readonly kind: 'scale'; readonly from: number; readonly to: number }
  | { readonly kind: Replacement; readonly groups?: Groups };

/** Of replicas that are groups of pods. */
interface Groups {
  /** Pods of each. */
  readonly size: number;
  /** As they run now, else as they are to be. */
  readonly count: number;
}

export interface PlannedPods {
  readonly revision: string;
  readonly replicas: number;
  /** Null: by what is free on the nodes, which nobody has read. */
  readonly replacement: Replacement | null;
  /** Whether a change is tried on a part of the requests first. */
  readonly isTried?: boolean;
  /** Pods of a replica, which come and go together. */
  readonly groupSize?: number;
}

/** @param live null: the cluster has none; undefined: it was not asked */
export function disruptionOf(
  { revision, replicas, replacement, isTried = false, groupSize = 1 }: PlannedPods,
  live: Deployment | null | undefined,
): Disruption {
  const groups = (count: number) => (groupSize === 1 ? {} : { groups: { size: groupSize, count } });
  if (live === undefined && isTried) return { kind: 'canary' };
  if (live === undefined) return { kind: 'unknown', onChange: replacement, ...groups(replicas) };
  if (live === null) return { kind: 'create' };
  const before = live.spec?.replicas ?? 1;
  const same = live.spec?.template?.metadata?.annotations?.[annotations.revision] === revision;
  if (!same && isTried) return { kind: 'canary' };
  if (!same && before > 0 && replacement !== null) return { kind: replacement, ...groups(before) };
  return before === replicas ? { kind: 'nothing' } : { kind: 'scale', from: before, to: replicas };
}

const ways: Record<Replacement, string> = {
  surge: 'a new pod serves before an old one ends',
  drain: 'an old pod finishes what it runs and ends before its devices go to the new one',
  drainAll: 'all old pods finish what they run and end before there is room for a new one',
};

function wayOf(replacement: Replacement, groups: Groups | undefined): string {
  if (groups === undefined) return ways[replacement];
  const { size, count } = groups;
  const group = `group of ${String(size)} pods`;
  if (replacement === 'surge') return `group by group, a new ${group} serves before an old one ends`;
  const outage = count === 1 || replacement === 'drainAll' ? '; nobody answers meanwhile' : '';
  return replacement === 'drain'
    ? `group by group, an old ${group} finishes what it runs and ends before a new one starts${outage}`
    : `all old groups of ${String(size)} pods finish what they run and end before a new one starts${outage}`;
}

export function describeDisruption(disruption: Disruption): string {
  switch (disruption.kind) {
    case 'unknown': {
      const { onChange, groups } = disruption;
      const way =
        onChange === null
          ? `surges where ${groups === undefined ? 'a node has room for one more' : 'nodes have room for one more group'}, else drains`
          : wayOf(onChange, groups);
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
      return `${disruption.kind}: ${wayOf(disruption.kind, disruption.groups)}`;
  }
}
