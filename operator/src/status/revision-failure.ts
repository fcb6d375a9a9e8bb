// When a revision has failed. A reason that cannot pass is enough for one that never was Ready, and for one that was if
// every pod keeps failing so; one that is to replace a revision that was Ready is also given up after restarts or
// evictions, without progress, or when its image or its volumes do not come. That a pod finds no node is never a
// failure: devices come free.

import { hasEnded } from '../kube/has-ended.js';
import type { Pod } from '../kube/types.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import { currentPods, currentWorkers } from './conditions.js';
import { currentLosses } from './group-text.js';
import type { Observed } from './observed.js';
import {
  isEvicted,
  isReady,
  lastingFailure,
  maxRestarts,
  podCondition,
  podFailure,
  restarts,
  runtimeStatus,
  weightsStatus,
  worstFailure,
  type PodFailure,
} from './pod-state.js';

export interface Patience {
  readonly imagePullMs: number;
  readonly noProgressMs: number;
}

export type RevisionVerdict =
  | { readonly state: 'failed'; readonly failure: PodFailure }
  /** Ask again after this long; null: when something changes. */
  | { readonly state: 'open'; readonly recheckMs: number | null };

/** Evicted pods stay for days: older ones count no more, lest another try is given up for them. */
const evictionsCountMs = 6 * 3_600_000;

export function judgeRevision(
  observed: Observed,
  standing: RevisionPlan['standing'],
  patience: Patience,
): RevisionVerdict {
  const lost = groupFailure(observed, standing);
  if (lost !== null) return { state: 'failed', failure: lost };
  const pods = [...currentPods(observed), ...currentWorkers(observed)];
  const failure = standing === 'good' ? lastingFailure(pods) : worstFailure(pods);
  if (failure?.terminal === true) return { state: 'failed', failure };
  if (standing !== 'challenger') return { state: 'open', recheckMs: null };
  const evicted = evictedAgain(pods, observed.now);
  if (evicted !== null) return { state: 'failed', failure: evicted };
  let recheckMs: number | null = null;
  for (const pod of pods.filter((each) => !isReady(each) && !hasEnded(each))) {
    const lost = podFailure(pod);
    if (lost?.reason === 'LoadStalled') return { state: 'failed', failure: lost };
    const times = restarts(pod);
    if (lost !== null && times >= maxRestarts) {
      return { state: 'failed', failure: { ...lost, message: `${lost.message} (${times} restarts)` } };
    }
    const stuck = lost?.reason === 'ImagePullFailed' ? pulling(lost, observed) : notStarting(pod);
    if (stuck === null) continue;
    const limitMs = stuck.failure.reason === 'ImagePullFailed' ? patience.imagePullMs : patience.noProgressMs;
    const leftMs = limitMs - (Date.parse(observed.now) - Date.parse(stuck.since));
    if (leftMs <= 0) return { state: 'failed', failure: stuck.failure };
    recheckMs = Math.min(recheckMs ?? Infinity, leftMs);
  }
  return { state: 'open', recheckMs };
}

/** Pods of a group are not restarted but made anew: what failed before is remembered for them. */
function groupFailure(observed: Observed, standing: RevisionPlan['standing']): PodFailure | null {
  for (const { failure, failures, group } of currentLosses(observed)) {
    if (failure === null) continue;
    const often = failures >= maxRestarts;
    const isOver = failure.terminal ? standing !== 'good' || often : standing === 'challenger' && often;
    if (isOver)
      return often
        ? { ...failure, message: `${failure.message} (${failures} starts of the group ${group})` }
        : failure;
  }
  return null;
}

/** A pod that is evicted is not restarted: another comes in its place, which begins at no restarts. */
function evictedAgain(pods: readonly Pod[], now: string): PodFailure | null {
  const evicted = pods.filter(
    (pod) =>
      isEvicted(pod) &&
      Date.parse(now) - Date.parse(pod.metadata.creationTimestamp ?? now) < evictionsCountMs,
  );
  const failure = worstFailure(evicted);
  if (failure === null || evicted.length < maxRestarts) return null;
  return {
    ...failure,
    message: `${failure.message} (${evicted.length} evictions; delete these pods before you try again)`,
  };
}

interface Stuck {
  readonly failure: PodFailure;
  readonly since: string;
}

/** Kubernetes does not date errors of an image's pull; the status does, when it first reports them. */
function pulling(failure: PodFailure, { previous, now }: Observed): Stuck {
  const last = previous.lastFailure;
  const same = last?.reason === failure.reason && last.pod === failure.pod;
  return { failure, since: same ? last.at : now };
}

/** What every pod waits for at first, and what a crash leads to. */
const usualWaits = new Set(['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff']);

/** The kubelet cannot even make the containers: a Secret, ConfigMap or volume is missing. */
function notStarting(pod: Pod): Stuck | null {
  // Volumes and network come before any image is pulled, and containers wait for them as for an image.
  const prepared = podCondition(pod, 'PodReadyToStartContainers');
  if (prepared?.status === 'False') {
    const why = 'its volumes or its network do not come; its events say more';
    return stuckSince(pod, why, prepared.lastTransitionTime);
  }
  const waiting = [weightsStatus(pod), runtimeStatus(pod)]
    .map((container) => container?.state?.waiting)
    .find((each) => each?.reason !== undefined && !usualWaits.has(each.reason));
  if (waiting === undefined) return null;
  const why = `${waiting.reason}: ${waiting.message ?? 'no message'}`;
  return stuckSince(pod, why, podCondition(pod, 'PodScheduled')?.lastTransitionTime);
}

function stuckSince({ metadata }: Pod, why: string, since: string | undefined): Stuck | null {
  if (since === undefined) return null;
  const message = `pod ${metadata.name} does not start: ${why}`;
  return {
    failure: { reason: 'LoadStalled', message, terminal: false, pod: metadata.name, at: null },
    since,
  };
}
