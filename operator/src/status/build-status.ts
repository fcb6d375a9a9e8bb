// The whole status of a service from what was observed of it. Equal observations give equal statuses, so that nothing is written
// when nothing changed: times are kept from the status before wherever their subject did not change.

import {
  conditionTypes,
  optionalConditionTypes,
  failureKinds,
  type Condition,
  type LastFailure,
  type LlmServiceStatus,
  type LoadingStatus,
} from '@llmservice/crds';
import { adaptersLoaded } from './adapters-condition.js';
import type { Answer } from './answer.js';
import { withinBudget } from './budget-condition.js';
import { canaryPassing } from './canary-condition.js';
import { classResolved } from './class-condition.js';
import { answer, currentPods, currentWorkers, livingPods, type Answers } from './conditions.js';
import { currentLosses } from './group-text.js';
import type { Pod } from '../kube/types.js';
import { stageOf } from '../plan/canary/canary.js';
import { publicUrl } from '../plan/traffic/host-claims.js';
import type { Observed } from './observed.js';
import { prefillStatus } from './prefill-status.js';
import { scalingActive } from './scaling-condition.js';
import { stablePods } from './stable-pods.js';
import { isReady, podCondition, worstFailure, type PodFailure } from './pod-state.js';

export function buildStatus(observed: Observed): LlmServiceStatus {
  const answers = answer(observed);
  const loading = loadingOf(observed);
  const lastLoad = lastLoadOf(observed);
  const { activatorAuthorities } = observed;
  const { warmth, spending } = observed.demand;
  const active = warmth.active;
  // A spec that cannot be followed for a while does not clear the account.
  const budget = observed.resolution.state === 'invalid' ? observed.previous.budget : spending?.account;
  const lastFailure = observed.failureHold?.failure ?? lastFailureOf(observed, answers);
  const memoryPlan = memoryPlanOf(observed);
  const canary = canaryOf(observed);
  const taken = takenClass(observed);
  return {
    observedGeneration: observed.generation,
    conditions: dated(answers, observed),
    url: urlOf(observed),
    model: observed.modelName,
    replicas: observed.deployment?.status?.replicas ?? 0,
    readyReplicas: stablePods(observed).filter(isReady).length,
    ...prefillStatus(observed.prefill),
    selector: observed.selector,
    ...(activatorAuthorities === null ? {} : { certificateAuthorities: activatorAuthorities }),
    ...checkedRoute(observed, answers),
    ...(loading === null ? {} : { loading }),
    ...(lastLoad === null ? {} : { lastLoad }),
    ...(active.length === 0 ? {} : { activeSchedules: active.map((schedule) => ({ ...schedule })) }),
    ...(budget === undefined ? {} : { budget }),
    ...(lastFailure === null ? {} : { lastFailure }),
    ...(taken === undefined ? {} : { class: { ...taken } }),
    ...(canary === null ? {} : { canary: { ...canary } }),
    ...(memoryPlan === undefined ? {} : { memoryPlan }),
  };
}

/** Of a spec that cannot be followed, where it stood: nothing is changed meanwhile. */
function canaryOf({
  canary,
  resolution,
  previous,
}: Observed): NonNullable<LlmServiceStatus['canary']> | null {
  return resolution.state === 'invalid' ? (previous.canary ?? null) : stageOf(canary);
}

/** Of a spec that cannot be followed, what its pods were made with. */
function takenClass({ serviceClass, resolution, previous }: Observed): LlmServiceStatus['class'] {
  if (serviceClass.state === 'taken') return serviceClass.taken;
  return resolution.state === 'invalid' ? previous.class : undefined;
}

/** Stands as the condition Fits does while the checkpoint is read anew. */
function memoryPlanOf({ fit, resolution, previous, generation }: Observed): LlmServiceStatus['memoryPlan'] {
  if (resolution.state === 'reading' && previous.observedGeneration === generation)
    return previous.memoryPlan;
  if (fit.state !== 'fits') return undefined;
  const { devices, memoryBytes, plan, estimate } = fit;
  return {
    devices,
    memoryBytes,
    ...plan,
    ...(estimate === true ? { estimate: true } : {}),
    rows: plan.rows.map((row) => ({ ...row })),
  };
}

/** Before anything was processed: every condition is there from the start, and says so. */
export function pendingConditions(generation: number, now: string): Condition[] {
  return conditionTypes.map((type) => ({
    type,
    status: 'Unknown' as const,
    reason: 'Pending',
    message: 'The operator has not processed this yet.',
    observedGeneration: generation,
    lastTransitionTime: now,
  }));
}

function dated(answers: Answers, observed: Observed): Condition[] {
  const { previous, generation, now } = observed;
  const optional = {
    ScalingActive: scalingActive(observed),
    AdaptersLoaded: adaptersLoaded(observed),
    WithinBudget: withinBudget(observed.demand.spending),
    CanaryPassing: canaryPassing(observed),
    ClassResolved: classResolved(observed.serviceClass),
  };
  const all: Readonly<Record<string, Answer | null>> = { ...answers, ...optional };
  return [...conditionTypes, ...optionalConditionTypes].flatMap((type) => {
    const before = previous.conditions?.find((condition) => condition.type === type);
    const given = all[type] ?? null;
    if (given === null) return [];
    const { status, reason, message } = given;
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return [{ type, status, reason, message, observedGeneration: generation, lastTransitionTime }];
  });
}

/** Reported once of a pod, when it is first seen to answer: later its Ready condition may have changed again. */
function lastLoadOf(observed: Observed): NonNullable<LlmServiceStatus['lastLoad']> | null {
  const before = observed.previous.lastLoad ?? null;
  const created = (pod: Pod): string => `${pod.metadata.creationTimestamp ?? ''} ${pod.metadata.name}`;
  const [newest] = observed.pods.filter(isReady).sort((a, b) => (created(a) < created(b) ? 1 : -1));
  const since = Date.parse(newest?.metadata.creationTimestamp ?? '');
  const ready = newest === undefined ? undefined : podCondition(newest, 'Ready')?.lastTransitionTime;
  const seconds = Math.round((Date.parse(ready ?? '') - since) / 1000);
  if (newest === undefined || newest.metadata.name === before?.pod || !(seconds >= 0)) return before;
  return { pod: newest.metadata.name, seconds };
}

function urlOf({ routing, scheme, name, namespace }: Observed): string {
  if (routing.state === 'planned') return publicUrl(routing);
  // The Service listens on the scheme's own port, which a URL leaves out.
  return `${scheme}://${name}.${namespace}.svc/`;
}

/** Kept with the verdict, so that it is not asked for again. */
function checkedRoute(
  { streaming }: Observed,
  { StreamingVerified }: Answers,
): Pick<LlmServiceStatus, 'streamCheck'> {
  if (streaming.state !== 'route' || StreamingVerified.reason === 'NotChecked') return {};
  return { streamCheck: { route: streaming.route } };
}

function loadingOf(observed: Observed): LoadingStatus | null {
  const [load] = currentPods(observed)
    .filter((pod) => !isReady(pod))
    .map((pod) => observed.loads.get(pod.metadata.name))
    .filter((each) => each !== undefined);
  if (load === undefined) return null;
  return {
    phase: load.phase,
    bytesDone: Math.round(load.bytesDone),
    bytesTotal: Math.round(load.bytesTotal),
    ...(load.bytesPerSecond === null ? {} : { bytesPerSecond: Math.round(load.bytesPerSecond) }),
    ...(load.etaSeconds === null ? {} : { etaSeconds: Math.round(load.etaSeconds) }),
    ...(load.warmup === null ? {} : { shapesDone: load.warmup.done, shapesTotal: load.warmup.total }),
  };
}

/** The newest failure of this generation's pods, else the one before, until the service works. */
function lastFailureOf(observed: Observed, answers: Answers): LastFailure | null {
  if (answers.Ready.status === 'True') return null;
  const failure =
    worstFailure([...livingPods(observed), ...currentWorkers(observed)]) ??
    currentLosses(observed).find((loss) => loss.failure !== null)?.failure ??
    null;
  const previous = observed.previous.lastFailure ?? null;
  // What nothing was held for is tried again, whatever its reason.
  if (failure !== null) return toLastFailure({ ...failure, terminal: false }, observed);
  // A terminal failure that no longer holds pods back is history.
  return previous?.terminal === true ? null : previous;
}

export function toLastFailure(failure: PodFailure, { previous, now, generation }: Observed): LastFailure {
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
