// How the pods of one template are replaced by those of another. Decided when the template changes, from what is free on
// the nodes; and again when a new pod finds no node for a while, since others take devices too. Old pods go first only
// where that makes room: a template that fits nowhere must not cost the pods that serve.

import { noRoomForClaim } from '../../kube/pod-wait.js';
import type { PodSpec } from '../../kube/types.js';
import type { ListedDevice } from '../fit/device-match.js';
import { mayRunOn, type NodeTraits } from '../fit/node-choice.js';
import { difference, podRequests, sum, type Requests } from '../fit/pod-requests.js';
import { byClaims, freesQuota, mayHaveDevices, type NewTemplate } from './old-holdings.js';
import type { Replacement } from './replacement.js';

export interface NodeRoom extends NodeTraits {
  /** Allocatable, less what all its pods request. */
  readonly free: Requests;
}

export interface Rollout extends NewTemplate {
  /** Pods that come and go together. */
  readonly groupSize: number;
  readonly strategy: 'Auto' | 'Surge' | 'Drain';
  /** What the Deployment is set to. */
  readonly current: Replacement;
  /** Whether the Deployment has another template now. */
  readonly changing: boolean;
  /** The scheduler's words about a pod of this template that finds no node, and for how long. */
  readonly unschedulable: { readonly message: string; readonly forMs: number } | null;
}

export type RolloutReview =
  /** @property recheckMs null: nothing will change by time alone */
  | { readonly state: 'settled'; readonly replacement: Replacement; readonly recheckMs: number | null }
  /** The nodes have to be checked. */
  | { readonly state: 'open' };

export function reviewRollout(rollout: Rollout, patienceMs: number): RolloutReview {
  const { strategy, current, changing, oldPods, unschedulable } = rollout;
  const settled = (replacement: Replacement, recheckMs: number | null = null): RolloutReview => ({
    state: 'settled',
    replacement,
    recheckMs,
  });
  if (strategy !== 'Auto') return settled(strategy === 'Surge' ? 'surge' : 'drain');
  if (oldPods.length === 0) return settled(current);
  if (changing) return { state: 'open' };
  if (current !== 'surge' || unschedulable === null) return settled(current);
  const leftMs = patienceMs - unschedulable.forMs;
  return leftMs > 0 ? settled(current, leftMs) : { state: 'open' };
}

/**
 * @param nodes null: they may not be read, and the scheduler's words decide once there are some
 * @param devices null: they are not read, or may not be
 */
export function decideRollout(
  rollout: Rollout,
  nodes: readonly NodeRoom[] | null,
  devices: readonly ListedDevice[] | null,
): Replacement {
  const predicted = nodes === null ? 'surge' : predict(rollout, nodes);
  // The scheduler knows more than we do; but a node that no freed device helps to get is worth no serving pod.
  const refused = predicted === 'surge' && !rollout.changing && (nodes === null || hasRoom(rollout, nodes));
  const chosen = refused ? makeRoom(rollout, nodes, devices) : predicted;
  return chosen === 'surge' || mayHaveDevices(rollout, nodes, devices) ? chosen : 'surge';
}

function hasRoom({ pod, groupSize }: Rollout, nodes: readonly NodeRoom[]): boolean {
  return podsThatFit(pod, nodes, groupSize) === groupSize;
}

/** How many of so many pods find room at once. */
function podsThatFit(pod: PodSpec, nodes: readonly NodeRoom[], wanted: number): number {
  let placed = 0;
  for (const node of nodes) {
    let held: Requests = {};
    while (placed < wanted && fits(pod, node, negated(held))) {
      held = sum(held, podRequests(pod));
      placed += 1;
    }
  }
  return placed;
}

function negated(requests: Requests): Requests {
  return difference({}, requests);
}

function predict(rollout: Rollout, nodes: readonly NodeRoom[]): Replacement {
  const { pod, oldPods, groupSize } = rollout;
  if (hasRoom(rollout, nodes)) return 'surge';
  if (groupSize > 1) return predictGroups(rollout, nodes);
  const held = (node: NodeRoom): Requests[] =>
    oldPods.filter(({ spec }) => spec?.nodeName === node.name).map(({ spec = {} }) => podRequests(spec));
  if (nodes.some((node) => held(node).some((one) => fits(pod, node, one)))) return 'drain';
  if (nodes.some((node) => fits(pod, node, held(node).reduce(sum, {})))) return 'drainAll';
  return 'surge';
}

/** An old group goes first where what the old ones hold makes room for a new one. */
function predictGroups({ pod, oldPods, groupSize }: Rollout, nodes: readonly NodeRoom[]): Replacement {
  const freed = nodes.map((node) => {
    const held = oldPods.filter(({ spec }) => spec?.nodeName === node.name);
    return { ...node, free: held.map(({ spec = {} }) => podRequests(spec)).reduce(sum, node.free) };
  });
  return podsThatFit(pod, freed, groupSize) === groupSize ? 'drain' : 'surge';
}

function fits(pod: PodSpec, node: NodeRoom, freed: Requests): boolean {
  const room = sum(node.free, freed);
  return (
    mayRunOn(pod, node) &&
    Object.entries(podRequests(pod)).every(([resource, amount]) => amount <= (room[resource] ?? 0))
  );
}

/** By the scheduler's words, or Kueue's, about what the new pod waits for. */
function makeRoom(
  rollout: Rollout,
  nodes: readonly NodeRoom[] | null,
  devices: readonly ListedDevice[] | null,
): Replacement {
  const message = rollout.unschedulable?.message ?? '';
  const claims = message.includes(noRoomForClaim) ? byClaims(rollout, nodes, devices) : 'surge';
  if (claims !== 'surge') return claims;
  return wouldMakeRoom(rollout, message) || freesQuota(rollout, message) ? 'drain' : 'surge';
}

/** Whether some old pod holds enough of every resource that the scheduler misses, or pods like ours bar the nodes. */
function wouldMakeRoom({ pod, oldPods }: Rollout, message: string): boolean {
  if (message.includes("didn't match pod anti-affinity rules")) return true;
  // The old pod holds a claim that one pod alone may mount.
  if (message.includes('ReadWriteOncePod')) return true;
  const missing = [...message.matchAll(/Insufficient ([\w./-]*\w)/g)].map(([, resource = '']) => resource);
  const wanted = podRequests(pod);
  return (
    missing.length > 0 &&
    oldPods.some(({ spec = {} }) => {
      const held = podRequests(spec);
      return missing.every((resource) => (held[resource] ?? 0) >= (wanted[resource] ?? 0));
    })
  );
}
