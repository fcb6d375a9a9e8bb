import { describe, expect, test } from '@jest/globals';
import type { Autoscaler, Pod } from '../kube/types.js';
import { spendingAt, type Budget, type Spending } from '../plan/scaling/budget.js';
import { idleDemand } from '../plan/scaling/demand.js';
import { buildStatus } from './build-status.js';
import { transitions } from './events.js';
import { base, pod } from './observed.fixture.js';
import type { Observed } from './observed.js';

const own: Observed['autoscaling'] = { state: 'planned', autoscaler: { provider: 'operator' } };
const hpa: Observed['autoscaling'] = { state: 'planned', autoscaler: { provider: 'hpa' } };
const hpaThat = (status: string, reason: string): Autoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'demo' },
  status: { conditions: [{ type: 'ScalingActive', status, reason }] },
});
const spendingOf = (hours: number, budget: Partial<Budget> = {}): Spending | null => {
  const account = { monthStart: '2026-01-01T00:00:00Z', deviceSeconds: hours * 3600, devicesHeld: 0 };
  const given: Budget = { deviceHoursPerMonth: 10, timeZone: 'UTC', action: 'stop', ...budget };
  return spendingAt(given, { ...account, updatedAt: base.now }, [], base.now);
};
const overBudget: Partial<Observed> = {
  wantedReplicas: 0,
  demand: { ...idleDemand, spending: spendingOf(10), overBudget: true },
};

describe('conditions', () => {
  test.each<[string, Partial<Observed>, string, string]>([
    ['the budget is spent', overBudget, 'Ready', 'False OverBudget'],
    ['the budget is spent', overBudget, 'Loaded', 'Unknown OverBudget'],
    ['the budget is spent', overBudget, 'WithinBudget', 'False OverBudget'],
    ['the budget is spent', overBudget, 'Stalled', 'False NotStalled'],
    ['scaled by hand', {}, 'ScalingActive', 'absent '],
    ['scaled by the operator', { autoscaling: own }, 'ScalingActive', 'True Operator'],
    [
      'scaled by the operator, blind',
      { autoscaling: own, scraped: { state: 'unseen', message: 'pod a does not answer' } },
      'ScalingActive',
      'Unknown MetricsUnseen',
    ],
    ['scaled, without pods', { autoscaling: own, wantedReplicas: 0 }, 'ScalingActive', 'Unknown NoPods'],
    ['an HPA that has said nothing', { autoscaling: hpa }, 'ScalingActive', 'Unknown Pending'],
    [
      'an HPA without metrics',
      { autoscaling: hpa, autoscaler: hpaThat('False', 'FailedGetPodsMetric') },
      'ScalingActive',
      'False FailedGetPodsMetric',
    ],
    [
      'an HPA that scales',
      { autoscaling: hpa, autoscaler: hpaThat('True', 'ValidMetricFound') },
      'ScalingActive',
      'True HorizontalPodAutoscaler',
    ],
    [
      'a provider that is not there',
      { autoscaling: { state: 'missing', provider: 'keda', message: 'no KEDA' } },
      'ScalingActive',
      'False ProviderMissing',
    ],
  ])('%s → %j: %s is %s', (_, change, type, expected) => {
    const found = buildStatus({ ...base, ...change }).conditions?.find((each) => each.type === type);
    expect(`${found?.status ?? 'absent'} ${found?.reason ?? ''}`).toBe(expected);
  });
});

describe('the budget', () => {
  const statusAt = (hours: number, budget: Partial<Budget> = {}) =>
    buildStatus({ ...base, demand: { ...idleDemand, spending: spendingOf(hours, budget) } });
  const messageOf = (hours: number, budget: Partial<Budget> = {}): string =>
    statusAt(hours, budget).conditions?.find(({ type }) => type === 'WithinBudget')?.message ?? '';

  test.each<[number, Partial<Budget>, string]>([
    [5, {}, "50 % of the month's 10 device-hours are taken."],
    [12, {}, 'There are no pods until 2026-02-01T00:00:00Z; raise spec.budget.deviceHoursPerMonth'],
    [12, { action: 'warn' }, 'Pods stay'],
  ])('%d hours of %j', (hours, budget, message) => {
    expect(messageOf(hours, budget)).toContain(message);
  });

  test('is reported in its own currency', () => {
    const money = { costPerMonth: '20', costPerDeviceHour: '2', currency: 'EUR' };
    const spending = spendingAt({ timeZone: 'UTC', action: 'stop', ...money }, null, [], base.now);
    const { conditions } = buildStatus({ ...base, demand: { ...idleDemand, spending } });
    expect(conditions?.at(-1)?.message).toBe("0 % of the month's 20 EUR are taken.");
  });

  test('brings an event at four fifths, one when it is spent, and none between', () => {
    const hours = [7, 8, 9, 10, 11].map((each) => statusAt(each));
    const events = hours.slice(1).map((after, index) => transitions(hours[index] ?? {}, after));
    expect(events.map((each) => each.map(({ type, reason }) => `${type} ${reason}`))).toEqual([
      ['Warning NearlySpent'],
      [],
      ['Warning OverBudget'],
      [],
    ]);
  });

  test('is not forgotten while the spec cannot be followed', () => {
    const previous = statusAt(5);
    const invalid = buildStatus({ ...base, previous, resolution: { state: 'invalid', violations: [] } });
    expect(invalid.budget).toEqual(previous.budget);
  });
});

describe('the last load', () => {
  const readyPod = (name: string, created: string, since: string): Pod => {
    const { metadata, ...rest } = pod(name, { ready: true });
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since }];
    return { ...rest, metadata: { ...metadata, creationTimestamp: created }, status: { conditions } };
  };
  const first = readyPod('a', '2026-01-01T00:00:00Z', '2026-01-01T00:08:00Z');
  test('is that of the newest pod that answers', () => {
    const second = readyPod('b', '2026-01-02T00:00:00Z', '2026-01-02T00:01:00Z');
    expect(buildStatus({ ...base, pods: [second, first] }).lastLoad).toEqual({ pod: 'b', seconds: 60 });
  });
  test('is kept when the pod answers anew, and when it goes', () => {
    const previous = buildStatus({ ...base, pods: [first] });
    expect(previous.lastLoad).toEqual({ pod: 'a', seconds: 480 });
    const again = readyPod('a', '2026-01-01T00:00:00Z', '2026-01-01T09:00:00Z');
    for (const pods of [[again], []]) {
      expect(buildStatus({ ...base, previous, pods }).lastLoad).toEqual(previous.lastLoad);
    }
  });
});
