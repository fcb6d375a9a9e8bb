// What one pod says about its service: of which revision it is, whether it answers, and how it failed.

import {
  annotations,
  failureKinds,
  parseTerminationMessage,
  runtimeContainer,
  weightsContainer,
  type FailureReason,
} from '@llmservice/crds';
import { hasEnded } from '../kube/has-ended.js';
import type { ContainerStatus, ObjectCondition, Pod, TerminatedState } from '../kube/types.js';

export interface PodFailure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly terminal: boolean;
  readonly pod: string;
  /** Null where Kubernetes does not date it. */
  readonly at: string | null;
}

export function podRevision(pod: Pod): string | null {
  return pod.metadata.annotations?.[annotations.revision] ?? null;
}

export function isReady(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && podCondition(pod, 'Ready')?.status === 'True';
}

/** For how long some pod has answered; null: none does. One that nobody dated has for ever. */
export function answeringMs(pods: readonly Pod[], now: string): number | null {
  const since = pods
    .filter(isReady)
    .map((pod) => Date.parse(podCondition(pod, 'Ready')?.lastTransitionTime ?? '1970-01-01T00:00:00Z'));
  return since.length === 0 ? null : Date.parse(now) - Math.min(...since);
}

export function podCondition(pod: Pod, type: string): ObjectCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

export function runtimeStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === runtimeContainer);
}

/** Of the init container that pulls for another engine; undefined where there is none. */
export function weightsStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.initContainerStatuses?.find(({ name }) => name === weightsContainer);
}

const imagePullReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);

/** By its node, for want of memory or disk: it stays to be read, and another comes in its place. */
export function isEvicted({ status }: Pod): boolean {
  return status?.phase === 'Failed' && status.reason === 'Evicted';
}

/** How a pod failed, now or in its last run; null for one that did not, or that is on its way out. */
export function podFailure(pod: Pod): PodFailure | null {
  if (pod.metadata.deletionTimestamp !== undefined) return null;
  const name = pod.metadata.name;
  if (isEvicted(pod)) {
    return named('Crashed', `pod ${name} was evicted: ${pod.status?.message ?? 'no message'}`, name, null);
  }
  return containerFailure(runtimeStatus(pod), pod) ?? containerFailure(weightsStatus(pod), pod);
}

function containerFailure(container: ContainerStatus | undefined, pod: Pod): PodFailure | null {
  const { name } = pod.metadata;
  const waiting = container?.state?.waiting;
  if (imagePullReasons.has(waiting?.reason ?? '')) {
    return named('ImagePullFailed', waiting?.message ?? waiting?.reason ?? '', name, null);
  }
  const ended = failedRun(container, pod);
  if (ended === null) return null;
  const parsed = parseTerminationMessage(ended.message);
  const at = ended.finishedAt ?? null;
  if (parsed !== null) return named(parsed.reason, parsed.message, name, at);
  if (ended.reason === 'OOMKilled') {
    return named('OutOfMemory', `pod ${name} used more memory than its limit allows`, name, at);
  }
  const log = (ended.message ?? '').trim().slice(-800);
  const end = log === '' ? '' : `; the end of its log: ${log}`;
  return named('Crashed', `pod ${name} ended with exit code ${ended.exitCode}${end}`, name, at);
}

function named(reason: FailureReason, message: string, pod: string, at: string | null): PodFailure {
  return { reason, message, terminal: failureKinds[reason].terminal, pod, at };
}

/** The run that a container failed in last. What runs now and has answered is past it, though it stays on record. */
function failedRun(container: ContainerStatus | undefined, pod: Pod): TerminatedState | null {
  const { state, lastState } = container ?? {};
  const past = state?.running !== undefined && hasAnsweredSince(pod, state.running.startedAt);
  const ended = state?.terminated ?? (past ? undefined : lastState?.terminated);
  return ended === undefined || ended.exitCode === 0 ? null : ended;
}

/** A pod that is not Ready was so meanwhile if that changed since. False where Kubernetes does not date both. */
function hasAnsweredSince(pod: Pod, time: string | undefined): boolean {
  return Date.parse(podCondition(pod, 'Ready')?.lastTransitionTime ?? '') > Date.parse(time ?? '');
}

/** After so many restarts without an answer a pod is not waited for. */
export const maxRestarts = 3;

/**
 * Why the pods of a revision that has been Ready cannot serve any more; null while one of them may. What fails a load
 * (memory, a disk, a bucket) often passes where it worked before: only pods count that were started again and again,
 * do not run now, and did not answer before they failed.
 */
export function lastingFailure(pods: readonly Pod[]): PodFailure | null {
  const living = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod));
  return living.every(keepsFailing) ? worstFailure(living) : null;
}

function keepsFailing(pod: Pod): boolean {
  if (podFailure(pod)?.terminal !== true || restarts(pod) < maxRestarts) return false;
  const containers = [runtimeStatus(pod), weightsStatus(pod)];
  if (containers.some((container) => container?.state?.running !== undefined)) return false;
  return !containers.some((container) => hasAnsweredSince(pod, failedRun(container, pod)?.startedAt));
}

/** Of the container that was restarted most: the one that pulls may never let the other begin. */
export function restarts(pod: Pod): number {
  return Math.max(runtimeStatus(pod)?.restartCount ?? 0, weightsStatus(pod)?.restartCount ?? 0);
}

/** The failure that counts: a terminal one before others, else the latest. */
export function worstFailure(pods: readonly Pod[]): PodFailure | null {
  const failures = pods.map(podFailure).filter((failure) => failure !== null);
  failures.sort((a, b) => Number(b.terminal) - Number(a.terminal) || (b.at ?? '').localeCompare(a.at ?? ''));
  return failures[0] ?? null;
}
