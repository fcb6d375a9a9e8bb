// Whether a service has got as far as someone waits for. Pure; only conditions of the present generation count, so
// that an upgrade is never judged by what was true before it.

import type { ConditionType, LlmService } from '@llmservice/crds';

/** accepted: the model is known and nothing says that it does not fit. serving: it answers, or is not to answer. */
export type WaitGoal = 'accepted' | 'serving';

export const waitGoals: Readonly<Record<WaitGoal, readonly ConditionType[]>> = {
  accepted: ['ModelResolved', 'Fits'],
  serving: ['Ready'],
};

/** Answers other than yes that stay as they are, although the service is as its spec wants it. */
const enough: Partial<Record<ConditionType, readonly string[]>> = {
  // Pods are made all the same, since the engine measures for itself.
  Fits: ['MemoryUnknown', 'NotEstimated'],
  // Whoever wrote the spec asked for no pods. Waiting on, or going back to the release before, brings none.
  Ready: ['Stopped', 'ScaledToZero', 'OverBudget'],
};

export interface WaitVerdict {
  /** failed: nothing but a change of the spec, the checkpoint or the cluster helps. */
  readonly kind: 'reached' | 'waiting' | 'failed';
  readonly message: string;
}

export function waitVerdict(service: LlmService | null, goal: WaitGoal): WaitVerdict {
  if (service === null) return { kind: 'waiting', message: 'the LlmService does not exist yet' };
  const failure = terminalFailure(service);
  if (failure !== null) return { kind: 'failed', message: failure };

  const notTrue = waitGoals[goal].filter((type) => currentCondition(service, type)?.status !== 'True');
  const missing = notTrue.filter((type) => !isEnough(service, type));
  if (missing.length > 0) {
    return { kind: 'waiting', message: missing.map((type) => describe(service, type)).join('; ') };
  }
  const answers = waitGoals[goal].map((type) =>
    notTrue.includes(type) ? describe(service, type) : `${type}: yes`,
  );
  return { kind: 'reached', message: answers.join('; ') };
}

function isEnough(service: LlmService, type: ConditionType): boolean {
  return enough[type]?.includes(currentCondition(service, type)?.reason ?? '') === true;
}

function terminalFailure(service: LlmService): string | null {
  const stalled = currentCondition(service, 'Stalled');
  if (stalled?.status !== 'True') return null;
  const failure = service.status?.lastFailure;
  return failure?.reason === stalled.reason
    ? `${failure.reason}: ${failure.message} ${failure.remedy}`
    : `${stalled.reason}: ${stalled.message}`;
}

function currentCondition({ metadata, status }: LlmService, type: ConditionType) {
  return status?.conditions?.find(
    (condition) => condition.type === type && condition.observedGeneration === metadata.generation,
  );
}

function describe(service: LlmService, type: ConditionType): string {
  const condition = currentCondition(service, type);
  if (condition === undefined) return `${type} is not yet known (is the operator running?)`;
  return `${type}=${condition.status}, ${condition.reason}: ${condition.message}`;
}
