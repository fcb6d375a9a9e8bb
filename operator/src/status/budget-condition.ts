// Whether the budget of the month lasts. Asked only of services that have one.

import type { LlmServiceSpec } from '@llmservice/crds';
import type { Spending } from '../plan/scaling/budget.js';
import { no, yes, type Answer } from './answer.js';

type Budget = LlmServiceSpec['budget'];

/** Reasons, in the order in which a month passes through them. */
const reasons = { within: 'Spending', nearly: 'NearlySpent', over: 'OverBudget' } as const;

/** @param spending null: there is no budget */
export function withinBudget(spending: Spending | null): Answer | null {
  if (spending === null) return null;
  const { state, account, limitSeconds, budget, nextMonth } = spending;
  const percent = Math.floor((100 * account.deviceSeconds) / limitSeconds);
  const taken = `${percent} % of the month's ${amountOf(budget)} are taken.`;
  if (state !== 'over') return yes(reasons[state], taken);
  return no(reasons.over, `${taken} ${budget.action === 'stop' ? stopped(budget, nextMonth) : warned}`);
}

const warned = 'Pods stay, since budget.action is warn.';

function stopped(budget: Budget, nextMonth: string): string {
  const field = budget.deviceHoursPerMonth === undefined ? 'costPerMonth' : 'deviceHoursPerMonth';
  return `There are no pods until ${nextMonth}; raise spec.budget.${field} to have them before.`;
}

function amountOf({ deviceHoursPerMonth, costPerMonth = '', currency }: Budget): string {
  if (deviceHoursPerMonth !== undefined) return `${deviceHoursPerMonth} device-hours`;
  return currency === undefined ? costPerMonth : `${costPerMonth} ${currency}`;
}
