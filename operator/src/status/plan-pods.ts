// Which pods a service is to have after its failures: of the wanted revision, of the last good one, or none.

import { hasEnded } from '../kube/has-ended.js';
import type { ChildInputs } from '../plan/children.js';
import { holdsStable } from '../plan/canary/canary.js';
import type { RevisionPlan } from '../plan/revision-plan.js';
import type { Revision } from '../plan/rollouts/revision.js';
import type { Sleep } from '../plan/scaling/sleep.js';
import { answer, currentPods } from './conditions.js';
import type { FailureHold, Observed } from './observed.js';
import { isReady, podRevision } from './pod-state.js';

export function planPods(
  { good, attempt }: RevisionPlan,
  target: Revision,
  observed: Observed,
  failureHold: FailureHold | null,
  sleep: Sleep,
): Omit<
  ChildInputs,
  | 'gateway'
  | 'fallback'
  | 'canary'
  | 'pool'
  | 'operatorNamespace'
  | 'replacement'
  | 'activators'
  | 'autoscaler'
  | 'adapters'
> {
  const asleep = sleep.state === 'asleep' ? sleep.mark : null;
  const replicas = asleep === null ? observed.wantedReplicas : 0;
  const last = good?.object.metadata.name ?? null;
  const canaryTemplate = observed.canary.state === 'trying' ? target.template : null;
  if (failureHold === null && good !== null && holdsStable(observed.canary)) {
    const { template } = good;
    return { template, canaryTemplate, replicas, failedAttempt: null, goodRevision: last, asleep };
  }
  if (failureHold === null) {
    const goodNow = isRolledOut(observed) ? target.object.metadata.name : last;
    const { template } = target;
    return { template, canaryTemplate, replicas, failedAttempt: null, goodRevision: goodNow, asleep };
  }
  if (failureHold.outcome === 'rolledBack' && good !== null) {
    const { template } = good;
    return { template, canaryTemplate, replicas, failedAttempt: attempt, goodRevision: last, asleep };
  }
  // Pods before it that never were all ready at once, but answer: they keep the Deployment up.
  const olderServes = observed.pods.some((pod) => isReady(pod) && podRevision(pod) !== observed.revision);
  return {
    template: target.template,
    canaryTemplate,
    replicas: olderServes ? replicas : 0,
    failedAttempt: attempt,
    goodRevision: null,
    asleep,
  };
}

/** Nothing is on its way: it is Ready by pods of the wanted revision, all of them, and no others run. */
export function isSettled(observed: Observed): boolean {
  const { pods, wantedReplicas: wanted, failureHold } = observed;
  return (
    failureHold === null &&
    answer(observed).Ready.status === 'True' &&
    // What was evicted or refused by its node is left to be read, maybe for days.
    pods.filter((pod) => !hasEnded(pod)).length === wanted &&
    currentPods(observed).filter(isReady).length === wanted
  );
}

/** All pods that are wanted answer: from now on this is what a bad revision is rolled back to. */
function isRolledOut(observed: Observed): boolean {
  const ready = currentPods(observed).filter(isReady).length;
  return observed.wantedReplicas > 0 && ready >= observed.wantedReplicas;
}
