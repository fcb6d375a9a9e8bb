// Whether a service has got as far as someone waits for. Pure; only conditions of the present generation count, so
// that an upgrade is never judged by what was true before it.

import type { ConditionType, LlmService } from '@llmservice/crds';

/** accepted: the model is known and fits the devices. serving: it answers. */
export type WaitGoal = 'accepted' | 'serving';

export const waitGoals: Readonly<Record<WaitGoal, readonly ConditionType[]>> = {
  accepted: ['ModelResolved', 'Fits'],
  serving: ['Ready'],
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

  const missing = waitGoals[goal].filter((type) => currentCondition(service, type)?.status !== 'True');
  if (missing.length === 0) return { kind: 'reached', message: `${waitGoals[goal].join(' and ')}: yes` };
  return { kind: 'waiting', message: missing.map((type) => describe(service, type)).join('; ') };
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
