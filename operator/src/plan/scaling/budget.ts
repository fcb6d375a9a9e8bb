// What a service took of its budget: device-seconds of a calendar month, kept in its status, so that they survive the
// operator. Counted whenever its pods change and every few minutes; what nobody saw is counted as taken.

import { timestamp, type LlmServiceSpec, type LlmServiceStatus } from '@llmservice/crds';
import { hasEnded } from '../../kube/has-ended.js';
import type { Pod } from '../../kube/types.js';
import { cron } from '../../resource/cron.js';

export type Budget = LlmServiceSpec['budget'];
/** As status has it. */
export type BudgetAccount = NonNullable<LlmServiceStatus['budget']>;

export interface HeldDevices {
  readonly devices: number;
  /** RFC 3339. */
  readonly since: string;
}

export interface Spending {
  readonly budget: Budget;
  readonly state: 'within' | 'nearly' | 'over';
  /** For the status: as it was while a write is not due. */
  readonly account: BudgetAccount;
  readonly limitSeconds: number;
  /** RFC 3339. */
  readonly nextMonth: string;
  /** Until the state or the account changes by time alone; null: it does not. */
  readonly recheckMs: number | null;
}

/** Between two writes of an account while devices are held: what a crash of the operator leaves to be estimated. */
const writeMs = 5 * 60_000;
const warnShare = 0.8;
/** Time zones differ by less: two months that begin so close together are the same one. */
const sameMonthMs = 48 * 3_600_000;

/**
 * @param account null: nothing was counted yet; pods that run count from their start or the month's
 * @returns null: there is no limit
 */
export function spendingAt(
  budget: Budget,
  account: BudgetAccount | null,
  held: readonly HeldDevices[],
  now: string,
): Spending | null {
  const limitSeconds = budgetSeconds(budget);
  if (limitSeconds === null) return null;
  const month = monthOf(now, budget.timeZone);
  const known = account !== null && isSameMonth(account.monthStart, month.start) ? account : null;
  const countedTo = Math.max(Date.parse(month.start), account === null ? 0 : Date.parse(account.updatedAt));
  const devicesHeld = held.reduce((sum, { devices }) => sum + devices, 0);
  const used =
    (known?.deviceSeconds ?? 0) + taken(held, account?.devicesHeld ?? 0, countedTo, Date.parse(now));
  const state = stateOf(used, limitSeconds);

  const ageMs = account === null ? 0 : Date.parse(now) - Date.parse(account.updatedAt);
  const due =
    known === null ||
    known.devicesHeld !== devicesHeld ||
    stateOf(known.deviceSeconds, limitSeconds) !== state ||
    (devicesHeld > 0 && ageMs >= writeMs);
  const next: BudgetAccount = { monthStart: month.start, deviceSeconds: used, devicesHeld, updatedAt: now };
  return {
    budget,
    state,
    account: due ? next : known,
    limitSeconds,
    nextMonth: month.next,
    recheckMs: recheck(
      state,
      used,
      limitSeconds,
      devicesHeld,
      due ? 0 : ageMs,
      Date.parse(month.next) - Date.parse(now),
    ),
  };
}

/** Device-seconds between two times. Pods that were counted before and are gone may have stayed to the end. */
function taken(held: readonly HeldDevices[], heldBefore: number, fromMs: number, toMs: number): number {
  const known = held.filter(({ since }) => Date.parse(since) <= fromMs);
  const gone = Math.max(0, heldBefore - known.reduce((sum, { devices }) => sum + devices, 0));
  const parts = held.map(
    ({ devices, since }) => devices * Math.max(0, toMs - Math.max(fromMs, Date.parse(since))),
  );
  const sum = parts.reduce((total, part) => total + part, gone * Math.max(0, toMs - fromMs));
  return Math.ceil(sum / 1000);
}

function recheck(
  state: Spending['state'],
  used: number,
  limit: number,
  devices: number,
  ageMs: number,
  monthLeftMs: number,
): number | null {
  if (devices === 0) return state === 'over' ? monthLeftMs : null;
  const next = state === 'within' ? limit * warnShare : limit;
  const untilNextMs = state === 'over' ? Infinity : (Math.max(0, next - used) / devices) * 1000;
  return Math.max(1_000, Math.min(writeMs - ageMs, untilNextMs, monthLeftMs));
}

function stateOf(used: number, limit: number): Spending['state'] {
  if (used >= limit) return 'over';
  return used >= limit * warnShare ? 'nearly' : 'within';
}

/** Of devices, a month; null: there is no limit. */
export function budgetSeconds({
  deviceHoursPerMonth,
  costPerMonth,
  costPerDeviceHour,
}: Partial<Budget>): number | null {
  if (deviceHoursPerMonth === undefined && costPerMonth === undefined) return null;
  const hours = deviceHoursPerMonth ?? Number(costPerMonth) / Number(costPerDeviceHour);
  return Math.floor(hours * 3600);
}

function monthOf(now: string, timeZone: string): { start: string; next: string } {
  const first = cron('0 0 1 * *', timeZone);
  const time = new Date(now);
  let start = first.nextRun(new Date(+time - 32 * 24 * 3_600_000)) ?? time;
  for (;;) {
    const next = first.nextRun(start) ?? time;
    if (+next > +time) return { start: timestamp(start), next: timestamp(next) };
    start = next;
  }
}

/** A change of the time zone begins no new month. */
function isSameMonth(a: string, b: string): boolean {
  return Math.abs(Date.parse(a) - Date.parse(b)) < sameMonthMs;
}

/**
 * What pods hold of devices. A pod on its node does, whatever it does there, until it is gone or its containers ended.
 * @param devices of a pod that asks for none: on the CPU
 */
export function heldDevices(pods: readonly Pod[], devices: number): HeldDevices[] {
  return pods
    .filter((pod) => !hasEnded(pod))
    .map((pod) => ({ pod, bound: pod.status?.conditions?.find(({ type }) => type === 'PodScheduled') }))
    .filter(({ pod, bound }) => bound?.status === 'True' || pod.spec?.nodeName !== undefined)
    .map(({ pod, bound }) => ({
      devices: requested(pod) ?? devices,
      since: bound?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '1970-01-01T00:00:00Z',
    }));
}

/** Null: no device. */
function requested({ spec }: Pod): number | null {
  const counts = (spec?.containers ?? [])
    .flatMap(({ resources }) => Object.entries(resources?.requests ?? {}))
    .filter(([name]) => name.startsWith('amd.com/') || name.startsWith('nvidia.com/'))
    .map(([, count]) => Number(count));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}
