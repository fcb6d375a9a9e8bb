// What one pod says about its service: of which revision it is, whether it answers, and how it failed.

import {
  failureKinds,
  parseTerminationMessage,
  runtimeContainer,
  weightsContainer,
  type FailureReason,
} from '@llmservice/crds';
import type { ContainerStatus, ObjectCondition, Pod } from '../kube/types.js';
import { revisionAnnotation } from '../plan/pods/pod-template.js';

export interface PodFailure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly terminal: boolean;
  readonly pod: string;
  /** Null where Kubernetes does not date it. */
  readonly at: string | null;
}

export function podRevision(pod: Pod): string | null {
  return pod.metadata.annotations?.[revisionAnnotation] ?? null;
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

/** How a pod failed, now or in its last run; null for one that did not, or that is on its way out. */
export function podFailure(pod: Pod): PodFailure | null {
  if (pod.metadata.deletionTimestamp !== undefined) return null;
  const name = pod.metadata.name;
  if (pod.status?.phase === 'Failed' && pod.status.reason === 'Evicted') {
    return named('Crashed', `pod ${name} was evicted: ${pod.status.message ?? 'no message'}`, name, null);
  }
  return containerFailure(runtimeStatus(pod), name) ?? containerFailure(weightsStatus(pod), name);
}

function containerFailure(container: ContainerStatus | undefined, pod: string): PodFailure | null {
  const waiting = container?.state?.waiting;
  if (imagePullReasons.has(waiting?.reason ?? '')) {
    return named('ImagePullFailed', waiting?.message ?? waiting?.reason ?? '', pod, null);
  }
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  if (ended === undefined || ended.exitCode === 0) return null;
  const told = parseTerminationMessage(ended.message);
  const at = ended.finishedAt ?? null;
  if (told !== null) return named(told.reason, told.message, pod, at);
  if (ended.reason === 'OOMKilled') {
    return named('OutOfMemory', `pod ${pod} used more memory than its limit allows`, pod, at);
  }
  const log = (ended.message ?? '').trim().slice(-800);
  const end = log === '' ? '' : `; the end of its log: ${log}`;
  return named('Crashed', `pod ${pod} ended with exit code ${ended.exitCode}${end}`, pod, at);
}

function named(reason: FailureReason, message: string, pod: string, at: string | null): PodFailure {
  return { reason, message, terminal: failureKinds[reason].terminal, pod, at };
}

/** The failure that counts: a terminal one before others, else the latest. */
export function worstFailure(pods: readonly Pod[]): PodFailure | null {
  const failures = pods.map(podFailure).filter((failure) => failure !== null);
  failures.sort((a, b) => Number(b.terminal) - Number(a.terminal) || (b.at ?? '').localeCompare(a.at ?? ''));
  return failures[0] ?? null;
}
