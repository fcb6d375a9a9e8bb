// The whole status of a service from its picture. Equal pictures give equal statuses, so that nothing is written
// when nothing changed: times are kept from the status before wherever their subject did not change.

import {
  conditionTypes,
  failureKinds,
  type Condition,
  type LastFailure,
  type LlmServiceStatus,
  type LoadingStatus,
} from '@llmservice/crds';
import { answer, currentPods, type Answers } from './conditions.js';
import type { Picture } from './picture.js';
import { isReady, worstFailure, type PodFailure } from './pod-state.js';

export function buildStatus(picture: Picture): LlmServiceStatus {
  const answers = answer(picture);
  const loading = loadingOf(picture);
  const lastFailure = picture.halted?.failure ?? lastFailureOf(picture, answers);
  return {
    observedGeneration: picture.generation,
    conditions: dated(answers, picture),
    url: urlOf(picture),
    model: picture.modelName,
    replicas: picture.deployment?.status?.replicas ?? 0,
    readyReplicas: picture.pods.filter(isReady).length,
    selector: picture.selector,
    ...checkedRoute(picture, answers),
    ...(loading === null ? {} : { loading }),
    ...(lastFailure === null ? {} : { lastFailure }),
    ...(picture.fit.state === 'fits'
      ? {
          memoryPlan: {
            devices: picture.fit.devices,
            memoryBytes: picture.fit.memoryBytes,
            ...picture.fit.plan,
            ...(picture.fit.estimate === true ? { estimate: true } : {}),
            rows: picture.fit.plan.rows.map((row) => ({ ...row })),
          },
        }
      : {}),
  };
}

/** Before anything was looked at: every condition is there from the start, and says so. */
export function pendingConditions(generation: number, now: string): Condition[] {
  return conditionTypes.map((type) => ({
    type,
    status: 'Unknown' as const,
    reason: 'Pending',
    message: 'The operator has not looked at this yet.',
    observedGeneration: generation,
    lastTransitionTime: now,
  }));
}

function dated(answers: Answers, { previous, generation, now }: Picture): Condition[] {
  return conditionTypes.map((type) => {
    const before = previous.conditions?.find((condition) => condition.type === type);
    const { status, reason, message } = answers[type];
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return { type, status, reason, message, observedGeneration: generation, lastTransitionTime };
  });
}

function urlOf({ routing, scheme, name, namespace }: Picture): string {
  if (routing.state === 'planned') return `http://${routing.host}${routing.pathPrefix}/`;
  // The Service listens on the scheme's own port, which a URL leaves out.
  return `${scheme}://${name}.${namespace}.svc/`;
}

/** Beside the verdict, so that it is not asked for again. */
function checkedRoute(
  { streaming }: Picture,
  { StreamingVerified }: Answers,
): Pick<LlmServiceStatus, 'streamCheck'> {
  if (streaming.state !== 'route' || StreamingVerified.status === 'Unknown') return {};
  return { streamCheck: { route: streaming.route } };
}

function loadingOf(picture: Picture): LoadingStatus | null {
  const [load] = currentPods(picture)
    .filter((pod) => !isReady(pod))
    .map((pod) => picture.loads.get(pod.metadata.name))
    .filter((each) => each !== undefined);
  if (load === undefined) return null;
  return {
    phase: load.phase,
    bytesDone: Math.round(load.bytesDone),
    bytesTotal: Math.round(load.bytesTotal),
    ...(load.bytesPerSecond === null ? {} : { bytesPerSecond: Math.round(load.bytesPerSecond) }),
    ...(load.etaSeconds === null ? {} : { etaSeconds: Math.round(load.etaSeconds) }),
  };
}

/** The newest failure of this generation's pods, else the one before, until the service works. */
function lastFailureOf(picture: Picture, answers: Answers): LastFailure | null {
  if (answers.Ready.status === 'True') return null;
  const failure = worstFailure(currentPods(picture));
  const previous = picture.previous.lastFailure ?? null;
  if (failure !== null) return toLastFailure(failure, picture);
  // A terminal failure that no longer halts is history.
  return previous?.terminal === true ? null : previous;
}

export function toLastFailure(failure: PodFailure, { previous, now, generation }: Picture): LastFailure {
  const { reason, message, pod, terminal } = failure;
  const before = previous.lastFailure;
  const same = before?.reason === reason && before.pod === pod;
  return {
    reason,
    message,
    remedy: failureKinds[reason].remedy,
    terminal,
    at: failure.at ?? (same ? before.at : now),
    pod,
    generation: same ? (before.generation ?? generation) : generation,
  };
}
