import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kube/types.js';
import { heldDevices, spendingAt, type Budget, type BudgetAccount, type HeldDevices } from './budget.js';

const budget: Budget = { deviceHoursPerMonth: 100, timeZone: 'UTC', action: 'stop' };
const month = '2026-11-01T00:00:00Z';
const hour = 3600;
const account = (change: Partial<BudgetAccount> = {}): BudgetAccount => ({
  monthStart: month,
  deviceSeconds: 0,
  devicesHeld: 2,
  updatedAt: '2026-11-10T12:00:00Z',
  ...change,
});
const two: HeldDevices = { devices: 2, since: '2026-11-10T11:00:00Z' };
const spent = (
  known: BudgetAccount | null,
  held: HeldDevices[],
  now: string,
  change: Partial<Budget> = {},
) => {
  const spending = spendingAt({ ...budget, ...change }, known, held, now);
  if (spending === null) throw new Error('there is no limit');
  return spending;
};

describe('device-seconds', () => {
  test.each<[string, BudgetAccount | null, HeldDevices[], string, number]>([
    ['run while a pod has devices', account(), [two], '2026-11-10T12:10:00Z', 2 * 600],
    [
      'of a pod that came since, from then',
      account({ devicesHeld: 0 }),
      [{ ...two, since: '2026-11-10T12:05:00Z' }],
      '2026-11-10T12:10:00Z',
      2 * 300,
    ],
    ['of a pod that went since, all of it', account(), [], '2026-11-10T12:10:00Z', 2 * 600],
    [
      'of one that was replaced, both',
      account(),
      [{ ...two, since: '2026-11-10T12:05:00Z' }],
      '2026-11-10T12:10:00Z',
      2 * 600 + 2 * 300,
    ],
    ['through an outage of the operator', account(), [two], '2026-11-10T15:00:00Z', 2 * 3 * hour],
    ['are added', account({ deviceSeconds: 500 }), [two], '2026-11-10T12:10:00Z', 500 + 1200],
    ['without an account, from the pod’s start', null, [two], '2026-11-10T12:00:00Z', 2 * hour],
    [
      'or from the month’s',
      null,
      [{ devices: 1, since: '2026-10-20T00:00:00Z' }],
      '2026-11-01T02:00:00Z',
      2 * hour,
    ],
    [
      'begin anew with the month',
      account({ monthStart: '2026-10-01T00:00:00Z', deviceSeconds: 9e9, updatedAt: '2026-10-31T23:58:00Z' }),
      [two],
      '2026-11-01T00:10:00Z',
      2 * 600,
    ],
    ['never run backwards', account(), [two], '2026-11-10T11:00:00Z', 0],
  ])('%s', (_, known, held, now, seconds) => {
    const since = held.map((each) => (each === two && now < two.since ? { ...each, since: month } : each));
    expect(spent(known, since, now).account.deviceSeconds).toBe(seconds);
  });

  test('a change of the time zone begins no new month', () => {
    const known = account({ deviceSeconds: 777, devicesHeld: 0 });
    const { account: kept } = spent(known, [], '2026-11-10T12:10:00Z', { timeZone: 'Asia/Tokyo' });
    expect(kept.deviceSeconds).toBe(777);
  });

  test('months begin by the time zone, summer time or not', () => {
    const berlin = { timeZone: 'Europe/Berlin' };
    expect(spent(null, [], '2026-07-31T22:30:00Z', berlin).account.monthStart).toBe('2026-07-31T22:00:00Z');
    expect(spent(null, [], '2026-07-31T21:30:00Z', berlin).account.monthStart).toBe('2026-06-30T22:00:00Z');
    expect(spent(null, [], '2026-10-31T22:30:00Z', berlin).nextMonth).toBe('2026-10-31T23:00:00Z');
  });
});

describe('the account is written', () => {
  test.each<[string, HeldDevices[], string, boolean]>([
    ['not while it is fresh', [two], '2026-11-10T12:04:59Z', false],
    ['every five minutes', [two], '2026-11-10T12:05:00Z', true],
    ['when pods go', [], '2026-11-10T12:00:01Z', true],
    ['when pods come', [two, two], '2026-11-10T12:00:01Z', true],
  ])('%s', (_, held, now, written) => {
    expect(spent(account(), held, now).account.updatedAt === now).toBe(written);
  });
  test('never while no device is held, but once a month', () => {
    const asleep = account({ devicesHeld: 0 });
    expect(spent(asleep, [], '2026-11-29T12:00:00Z').account).toBe(asleep);
    expect(spent(asleep, [], '2026-11-29T12:00:00Z').recheckMs).toBeNull();
    const december = spent(asleep, [], '2026-12-02T12:00:00Z').account;
    expect(december.monthStart).toBe('2026-12-01T00:00:00Z');
    expect(spent(december, [], '2026-12-20T12:00:00Z').account).toBe(december);
  });
});

describe('the budget', () => {
  const used = (hours: number) => account({ deviceSeconds: hours * hour });
  const now = '2026-11-10T12:00:00Z';
  test.each<[string, number, string]>([
    ['lasts', 79, 'within'],
    ['is nearly spent from four fifths', 80, 'nearly'],
    ['is spent', 100, 'over'],
  ])('%s', (_, hours, state) => {
    expect(spent(used(hours), [two], now).state).toBe(state);
  });

  test('is checked again by the time that it is spent', () => {
    // 72 seconds of two devices are left.
    const near = account({ deviceSeconds: 100 * hour - 144 });
    expect(spent(near, [two], now).recheckMs).toBe(72_000);
    const over = spent(near, [two], '2026-11-10T12:01:12Z');
    expect(over).toMatchObject({ state: 'over', account: { deviceSeconds: 100 * hour } });
  });

  test('that is spent comes back with the next month', () => {
    const over = spent(account({ deviceSeconds: 100 * hour, devicesHeld: 0 }), [], '2026-11-30T23:00:00Z');
    expect(over).toMatchObject({ state: 'over', nextMonth: '2026-12-01T00:00:00Z', recheckMs: hour * 1000 });
    expect(spent(over.account, [], '2026-12-01T00:00:00Z')).toMatchObject({ state: 'within' });
  });

  test.each<[string, Partial<Budget>, number]>([
    ['hours', { deviceHoursPerMonth: 10 }, 10 * hour],
    ['cost', { costPerMonth: '250', costPerDeviceHour: '2.5' }, 100 * hour],
  ])('is reported in %s', (_, given, limit) => {
    const { timeZone, action } = budget;
    expect(spendingAt({ timeZone, action, ...given }, null, [], now)?.limitSeconds).toBe(limit);
  });

  test('is none unless one is set', () => {
    expect(spendingAt({ timeZone: 'UTC', action: 'stop' }, account(), [two], now)).toBeNull();
  });
});

describe('a pod holds its devices', () => {
  const pod = (status: Pod['status'], requests: Record<string, string> = { 'amd.com/gpu': '2' }): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', creationTimestamp: '2026-11-10T10:00:00Z' },
    spec: { containers: [{ name: 'runtime', resources: { requests } }] },
    status: status ?? {},
  });
  const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-10T11:00:00Z' };
  test.each<[string, Pod, HeldDevices[]]>([
    ['from when it has a node', pod({ conditions: [bound] }), [two]],
    ['not before', pod({ conditions: [{ type: 'PodScheduled', status: 'False' }] }), []],
    ['not when it has ended', pod({ phase: 'Failed', conditions: [bound] }), []],
    [
      'and counts as asked for where it asks for none',
      pod({ conditions: [bound] }, { cpu: '1' }),
      [{ ...two, devices: 7 }],
    ],
  ])('%s', (_, each, held) => {
    expect(heldDevices([each], 7)).toEqual(held);
  });
});
