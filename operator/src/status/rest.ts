// Why a service is to have no pods, where it is to have none: reported by every condition that asks about pods.

import { unknown, type Answer } from './answer.js';
import type { Observed } from './observed.js';

/** Null: pods are wanted. */
export function rest({ stopped, demand, sleep, wantedReplicas }: Observed): Answer | null {
  if (stopped) return unknown('Stopped', 'No replica is wanted while spec.stop is true.');
  if (demand.overBudget) return unknown('OverBudget', 'No replica is wanted while the budget is spent.');
  if (sleep.state === 'asleep') return unknown('Asleep', 'No replica is wanted until a request comes.');
  return wantedReplicas === 0 ? unknown('ScaledToZero', 'No replica is wanted.') : null;
}
