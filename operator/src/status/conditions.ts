// The conditions of a service: each answers one question with a stable reason and, where the answer is no, with what
// a person can do. Pure functions of what was observed.

import type { ConditionType } from '@llmservice/crds';
import { hasEnded } from '../kube/has-ended.js';
import type { Pod } from '../kube/types.js';
import { failed, no, sentences, unknown, withRemedy, yes, type Answer } from './answer.js';
import { withinBudget } from './budget-condition.js';
import { canaryUnderWay } from './canary-condition.js';
import { groupRestart } from './group-text.js';
import { judgedByPods, unjudged } from './judged-by-pods.js';
import type { FailureHold, Observed } from './observed.js';
import { isReady, podFailure, podRevision, runtimeStatus, weightsStatus } from './pod-state.js';
import { withoutPrefill } from './prefill-status.js';
import { rest } from './rest.js';
import { judgeRoute } from './route-condition.js';
import { judgeStreaming } from './streaming-condition.js';
import { judgeScheduling } from './scheduling-condition.js';
import { stablePods } from './stable-pods.js';

/** Reasons of what was reported before anything was found. */
const nothingFound: readonly string[] = ['Pending', 'Reading', 'ModelNotResolved'];

export type Answers = Readonly<Record<ConditionType, Answer>>;

/** Pods of the revision that this generation wants and that are to stay. */
export function currentPods(observed: Observed): Pod[] {
  return observed.pods.filter((pod) => isCurrent(pod, observed));
}

/** Those of them that compute for others. */
export function currentWorkers(observed: Observed): Pod[] {
  return observed.workers.filter((pod) => isCurrent(pod, observed));
}

function isCurrent(pod: Pod, { revision }: Observed): boolean {
  if (revision === null || podRevision(pod) !== revision) return false;
  return pod.metadata.deletionTimestamp === undefined;
}

/** Those of the revision that are not over; where all are, how they ended is what there is to report. */
export function livingPods(observed: Observed): Pod[] {
  const pods = currentPods(observed);
  const living = pods.filter((pod) => !hasEnded(pod));
  return living.length > 0 ? living : pods;
}

export function answer(observed: Observed): Answers {
  const answers = {
    ModelResolved:
      answerBefore(observed, 'ModelResolved') ??
      judgedByPods(observed, 'ModelResolved') ??
      modelResolved(observed),
    Fits: answerBefore(observed, 'Fits') ?? judgedByPods(observed, 'Fits') ?? fits(observed),
    Scheduled: judgeScheduling(observed, [...currentPods(observed), ...currentWorkers(observed)]),
    Loaded: loaded(observed),
    Serving: serving(observed),
    Routed: judgeRoute(observed),
    StreamingVerified: judgeStreaming(observed),
  };
  const ready = readiness(observed, answers);
  const stalled = stall(observed);
  const moving = ready.status !== 'True' && stalled === null && observed.wantedReplicas > 0;
  return {
    ...answers,
    Ready: ready,
    Reconciling: moving
      ? yes(ready.reason, ready.message)
      : no(
          'Settled',
          stalled === null ? 'Nothing is left to do.' : 'Nothing is tried until something changes.',
        ),
    Stalled: stalled ?? no('NotStalled', 'Nothing stands in the way for good.'),
  };
}

/** What an earlier read found of this generation stands while it is read anew, as after a restart of the operator. */
function answerBefore({ resolution, previous, generation }: Observed, type: ConditionType): Answer | null {
  if (resolution.state !== 'reading') return null;
  const before = previous.conditions?.find((condition) => condition.type === type);
  const isFound = before?.observedGeneration === generation && !nothingFound.includes(before.reason);
  return isFound ? before : null;
}

export function modelResolved({ resolution }: Pick<Observed, 'resolution'>): Answer {
  switch (resolution.state) {
    case 'resolved':
      return resolution.note === undefined
        ? yes(
            'Resolved',
            sentences(
              'The checkpoint is complete and of a supported architecture',
              resolution.ahead ?? '',
            ).trim(),
          )
        : yes('ResolvedByAnother', `The checkpoint is complete. ${resolution.note}`);
    case 'byPods':
      return unjudged(resolution.found, 'ModelResolved');
    case 'invalid': {
      const list = resolution.violations.map(({ path, message }) => `${path} ${message}`).join('; ');
      return no('InvalidSpec', withRemedy({ reason: 'InvalidSpec', message: list }));
    }
    case 'failed':
      return failed(resolution.failure);
    case 'unavailable':
      return unknown(resolution.failure.reason, withRemedy(resolution.failure));
    case 'reading':
      return unknown('Reading', sentences(resolution.message, '').trim());
  }
}

export function fits({ fit }: Pick<Observed, 'fit'>): Answer {
  switch (fit.state) {
    case 'fits':
      return yes(
        fit.estimate === true ? 'Estimated' : 'Fits',
        `${fit.estimate === true ? 'By the plan of our own engine; vLLM measures for itself: up' : 'Up'} to ${fit.plan.maxModelLen} tokens a sequence; ${fit.plan.maxConcurrencyAtMaxLen} such sequences at once.`,
      );
    // The engine measures the device and fails with a reason of its own: not knowing is no ground to refuse.
    case 'unmeasured':
      if (fit.note !== undefined) return unknown('NotEstimated', `${fit.note} vLLM measures for itself.`);
      return unknown(
        'MemoryUnknown',
        'How much memory a device has is not known; the engine measures it. Set spec.accelerator.memoryPerDevice ' +
          '(on the CPU: resources.limits.memory) to have the plan checked beforehand.',
      );
    case 'failed':
      return failed(fit.failure);
    case 'byPods':
      return unjudged('', 'Fits');
    case 'unresolved':
      return unknown('ModelNotResolved', 'The checkpoint is not known yet.');
  }
}

function loaded(observed: Observed): Answer {
  if (observed.failureHold !== null) {
    const { reason, message, remedy } = observed.failureHold.failure;
    return no(reason, sentences(message, remedy));
  }
  const resting = rest(observed);
  if (resting !== null) return resting;
  const pods = livingPods(observed);
  if (pods.some(isReady)) return yes('Loaded', 'The weights are in memory.');
  const restart = groupRestart(observed);
  if (restart !== null) return no('GroupRestarted', restart);
  for (const pod of [...pods, ...currentWorkers(observed)]) {
    const failure = podFailure(pod);
    if (failure !== null) return no(failure.reason, withRemedy(failure));
    const waiting = runtimeStatus(pod)?.state?.waiting;
    if (
      waiting?.reason !== undefined &&
      waiting.reason !== 'ContainerCreating' &&
      waiting.reason !== 'PodInitializing'
    ) {
      return no(waiting.reason, `${waiting.message ?? waiting.reason}. Check the pod ${pod.metadata.name}.`);
    }
  }
  const phase = pods
    .map((pod) => observed.loads.get(pod.metadata.name)?.phase)
    .find((each) => each !== undefined);
  if (phase === 'pull') return no('Pulling', 'Weights are pulled from S3; status.loading says how far.');
  if (phase === 'load') return no('Loading', 'Weights are loaded into memory; status.loading says how far.');
  if (phase === 'warmup')
    return yes('Loaded', 'The weights are in memory; the engine warms up, status.loading says how far.');
  if (pods.some((pod) => weightsStatus(pod)?.state?.running !== undefined)) {
    return no('Pulling', 'Weights are pulled from S3; the log of the container weights says how far.');
  }
  const running = pods.some((pod) => runtimeStatus(pod)?.state?.running !== undefined);
  return running ? no('Starting', 'The runtime starts.') : unknown('NotStarted', 'No runtime runs yet.');
}

/** Any revision counts: clients are answered. */
function serving(observed: Observed): Answer {
  if (stablePods(observed).some(isReady)) return yes('Answering', 'At least one pod answers.');
  return observed.sleep.state === 'asleep'
    ? no('Asleep', 'No pod answers; the activator holds requests and wakes one.')
    : no('NoReadyPod', 'No pod answers.');
}

/** Ready is about this generation: all that was asked for is there and answers. */
function readiness(observed: Observed, answers: Omit<Answers, 'Ready' | 'Reconciling' | 'Stalled'>): Answer {
  if (observed.stopped) {
    return no('Stopped', 'spec.stop is true: there are no pods. Set it to false to serve.');
  }
  if (observed.failureHold !== null) return failureHold(observed.failureHold, observed.generation);
  const budget = observed.demand.overBudget ? withinBudget(observed.demand.spending) : null;
  if (budget !== null) return budget;
  const { ModelResolved, Fits, Scheduled, Loaded, Serving, Routed } = answers;
  // A "no" goes before an "unknown". Pods that serve prove the checkpoint and the plan, whatever S3 says now.
  const refused = [ModelResolved, Fits, Scheduled].find(({ status }) => status === 'False');
  if (refused !== undefined) return refused;
  if (observed.sleep.state === 'asleep') {
    if (Routed.status !== 'True') return no(Routed.reason, Routed.message);
    return yes('Asleep', `Asleep since ${observed.sleep.mark.since}: the next request wakes it.`);
  }
  if (observed.wantedReplicas === 0) {
    return no('ScaledToZero', 'spec.replicas is 0. Set it to 1 or more to serve.');
  }
  const canary = canaryUnderWay(observed);
  if (canary !== null) return no('Canary', canary);
  const ready = currentPods(observed).filter(isReady).length;
  if (Loaded.status !== 'True') {
    // Where pods judge the checkpoint, what they are at says more.
    const ahead = observed.resolution.state === 'byPods' ? [] : [ModelResolved];
    const first = [...ahead, Scheduled, Loaded].find(({ status }) => status !== 'True') ?? Loaded;
    return no(first.reason, first.message);
  }
  if (ready < observed.wantedReplicas) {
    const answering = `${ready} of ${observed.wantedReplicas} pods of this generation answer.`;
    return no('ReplicasStarting', sentences(answering.slice(0, -1), groupRestart(observed) ?? '').trim());
  }
  if (Serving.status !== 'True') return Serving;
  if (Routed.status !== 'True' || observed.fallback.state === 'active')
    return no(Routed.reason, Routed.message);
  const notes = [
    observed.sleep.state === 'awake' ? observed.sleep.note : null,
    withoutPrefill(observed.prefill),
  ].filter((note) => note !== null);
  return yes('Serving', [`${ready} of ${observed.wantedReplicas} pods answer.`, ...notes].join(' '));
}

/** The reason says what became of the pods, the message what failed and what to do. */
function failureHold({ failure, outcome }: FailureHold, generation: number): Answer {
  const { reason, message, remedy } = failure;
  if (outcome === 'stopped') return no(reason, sentences(message, remedy));
  const before = `Generation ${failure.generation ?? generation} failed (${reason}) and was rolled back: ${message}`;
  return no('RolledBack', sentences(before, remedy));
}

/** Null while something may still change by itself. */
function stall(observed: Observed): Answer | null {
  const { resolution, fit, obstacle, failureHold, stopped } = observed;
  // Pods that nobody wants fail nowhere.
  if (stopped) return null;
  if (failureHold !== null) return yes(failureHold.failure.reason, failureHold.failure.message);
  if (resolution.state === 'invalid') return yes('InvalidSpec', modelResolved(observed).message);
  if (resolution.state === 'failed') return yes(resolution.failure.reason, withRemedy(resolution.failure));
  if (fit.state === 'failed') return yes(fit.failure.reason, withRemedy(fit.failure));
  return obstacle?.terminal === true ? yes(obstacle.reason, obstacle.message) : null;
}
