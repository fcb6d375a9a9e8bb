// Which transitions of a status are worth an event. A status that did not change yields none.

import type { Condition, LlmServiceStatus } from '@llmservice/crds';

export interface Transition {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Steps on the way that are no problem. */
const progress = new Set(['Pulling', 'Loading', 'Starting', 'ScaledToZero']);
const problems = [
  ...['ModelResolved', 'Fits', 'Scheduled', 'Loaded', 'Routed', 'StreamingVerified'],
  ...['ScalingActive', 'WithinBudget', 'AdaptersLoaded', 'CanaryPassing', 'ClassResolved'],
];

export function transitions(before: LlmServiceStatus, after: LlmServiceStatus): Transition[] {
  const found: Transition[] = [];
  for (const condition of after.conditions ?? []) {
    const was = before.conditions?.find(({ type }) => type === condition.type);
    if (was?.status === condition.status && was.reason === condition.reason) continue;
    const { reason, message } = condition;
    if (condition.type === 'Ready' && condition.status === 'True')
      found.push({ type: 'Normal', reason, message });
    else if (isProblem(condition)) found.push({ type: 'Warning', reason, message });
  }
  return found;
}

function isProblem({ type, status, reason }: Condition): boolean {
  if (type === 'Ready') return reason === 'RolledBack';
  if (reason === 'NearlySpent') return true;
  if (type === 'Routed' && reason === 'Fallback') return true;
  return problems.includes(type) && status === 'False' && !progress.has(reason);
}
