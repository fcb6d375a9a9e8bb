// When a revision has failed. A reason that cannot pass is enough for any; one that is to replace a revision that was
// Ready is also given up after restarts, without progress, or when its image or its volumes do not come. That a pod
// finds no node is never a failure: devices come free.

import type { Course } from '../plan/course.js';
import { currentPods } from './conditions.js';
import type { Picture } from './picture.js';
import {
  isReady,
  podCondition,
  podFailure,
  runtimeStatus,
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

const mostRestarts = 3;

export function judgeRevision(
  picture: Picture,
  standing: Course['standing'],
  patience: Patience,
): RevisionVerdict {
  const pods = currentPods(picture);
  const failure = worstFailure(pods);
  // Where pods of a good revision answer, one that fails is its own matter.
  if (failure?.terminal === true && !(standing === 'good' && pods.some(isReady))) {
    return { state: 'failed', failure };
  }
  if (standing !== 'challenger') return { state: 'open', recheckMs: null };
  let recheckMs: number | null = null;
  for (const pod of pods.filter((each) => !isReady(each))) {
    const lost = podFailure(pod);
    if (lost?.reason === 'LoadStalled') return { state: 'failed', failure: lost };
    const restarts = runtimeStatus(pod)?.restartCount ?? 0;
    if (lost !== null && restarts >= mostRestarts) {
      return { state: 'failed', failure: { ...lost, message: `${lost.message} (${restarts} restarts)` } };
    }
    const stuck = lost?.reason === 'ImagePullFailed' ? pulling(lost, picture) : notStarting(pod);
    if (stuck === null) continue;
    const limitMs = stuck.failure.reason === 'ImagePullFailed' ? patience.imagePullMs : patience.noProgressMs;
    const leftMs = limitMs - (Date.parse(picture.now) - Date.parse(stuck.since));
    if (leftMs <= 0) return { state: 'failed', failure: stuck.failure };
    recheckMs = Math.min(recheckMs ?? Infinity, leftMs);
  }
  return { state: 'open', recheckMs };
}

interface Stuck {
  readonly failure: PodFailure;
  readonly since: string;
}

/** Kubernetes does not date errors of an image's pull; the status does, when it first tells them. */
function pulling(failure: PodFailure, { previous, now }: Picture): Stuck {
  const told = previous.lastFailure;
  const same = told?.reason === failure.reason && told.pod === failure.pod;
  return { failure, since: same ? told.at : now };
}

/** What every pod waits for at first, and what a crash leads to. */
const usualWaits = new Set(['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff']);

/** The kubelet cannot even make the container: a Secret, ConfigMap or volume is missing. */
function notStarting(pod: Parameters<typeof podFailure>[0]): Stuck | null {
  const waiting = runtimeStatus(pod)?.state?.waiting;
  const since = podCondition(pod, 'PodScheduled')?.lastTransitionTime;
  if (waiting?.reason === undefined || usualWaits.has(waiting.reason) || since === undefined) return null;
  const { name } = pod.metadata;
  const message = `pod ${name} does not start: ${waiting.reason}: ${waiting.message ?? 'no message'}`;
  return { failure: { reason: 'LoadStalled', message, terminal: false, pod: name, at: null }, since };
}
