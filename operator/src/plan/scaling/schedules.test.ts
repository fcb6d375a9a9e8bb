import { describe, expect, test } from '@jest/globals';
import { leadSeconds, warmthAt, type ActiveSchedule, type Schedule } from './schedules.js';

const day: Schedule = {
  name: 'day',
  timeZone: 'Europe/Berlin',
  start: '0 8 * * 1-5',
  end: '0 18 * * 1-5',
  minReplicas: 2,
};
const at = (time: string, schedules: Schedule[] = [day], before: ActiveSchedule[] = [], lead = 600) =>
  warmthAt(schedules, before, lead, new Date(time));
const minute = 60_000;

describe('a schedule of working hours in Berlin', () => {
  test.each<[string, string, object]>([
    [
      'Friday night',
      '2026-01-09T20:00:00Z',
      { minReplicas: 0, active: [], recheckMs: (58 * 60 + 50) * minute },
    ],
    ['within', '2026-01-05T12:00:00Z', { minReplicas: 2, recheckMs: 5 * 60 * minute }],
    ['at its start', '2026-01-05T07:00:00Z', { minReplicas: 2 }],
    ['ten minutes before, as long as a load takes', '2026-01-05T06:50:00Z', { minReplicas: 2 }],
    ['before that', '2026-01-05T06:49:59Z', { minReplicas: 0, recheckMs: 1_000 }],
    ['at its end', '2026-01-05T17:00:00Z', { minReplicas: 0 }],
    ['in summer it begins an hour earlier by UTC', '2026-07-06T06:00:00Z', { minReplicas: 2 }],
    ['and ends so', '2026-07-06T16:00:00Z', { minReplicas: 0 }],
    ['the Monday after clocks went forward', '2026-03-30T05:49:59Z', { minReplicas: 0, recheckMs: 1_000 }],
    ['the Monday after they went back', '2026-10-26T06:49:59Z', { minReplicas: 0, recheckMs: 1_000 }],
  ])('%s', (_, time, expected) => {
    expect(at(time)).toMatchObject(expected);
  });

  test('says until when it holds, ahead of its start too', () => {
    const active = [{ name: 'day', until: '2026-01-05T17:00:00Z' }];
    expect(at('2026-01-05T06:55:00Z').active).toEqual(active);
    expect(at('2026-01-05T12:00:00Z').active).toEqual(active);
  });

  test('what began early stays, although the load took less than expected', () => {
    const early = '2026-01-05T06:50:00Z';
    const begun = at(early);
    expect(at(early, [day], [], 60).minReplicas).toBe(0);
    expect(at(early, [day], [...begun.active], 60)).toMatchObject({ minReplicas: 2, active: begun.active });
    // Another day's does not keep it.
    const stale = [{ name: 'day', until: '2026-01-02T17:00:00Z' }];
    expect(at(early, [day], stale, 60).minReplicas).toBe(0);
  });
});

describe('clocks that change within a schedule', () => {
  const night: Schedule = { ...day, start: '30 2 * * *', end: '30 3 * * *' };
  test.each<[string, string, number]>([
    // 02:30 does not exist on 2026-03-29: the clock goes from 02:00 (01:00Z) to 03:00.
    ['a start that is skipped comes when the clock has moved on', '2026-03-29T01:15:00Z', 2],
    ['and its end comes', '2026-03-29T01:30:00Z', 0],
    // 02:30 comes twice on 2026-10-25: at 00:30Z and 01:30Z.
    ['an hour that comes twice begins it once', '2026-10-25T00:30:00Z', 2],
    ['and it holds through the second', '2026-10-25T01:45:00Z', 2],
    ['until its end', '2026-10-25T02:30:00Z', 0],
  ])('%s', (_, time, minReplicas) => {
    expect(at(time, [night], [], 0).minReplicas).toBe(minReplicas);
  });
});

test('of several the most replicas count, and the earliest change', () => {
  const noon: Schedule = { ...day, name: 'noon', start: '0 12 * * *', end: '0 13 * * *', minReplicas: 5 };
  const both = at('2026-01-05T11:15:00Z', [day, noon]);
  expect(both).toMatchObject({ minReplicas: 5, recheckMs: 45 * minute });
  expect(both.active.map(({ name }) => name)).toEqual(['day', 'noon']);
  expect(at('2026-01-05T12:00:00Z', [day, noon]).minReplicas).toBe(2);
});

test('without schedules nothing holds and nothing changes', () => {
  expect(at('2026-01-05T12:00:00Z', [])).toEqual({ minReplicas: 0, active: [], recheckMs: null });
});

test.each([
  ['no load was seen', null, 600],
  ['it took no time', 0, 60],
  ['it took eight minutes', 480, 660],
  ['it took a day', 86_400, 7_200],
])('pods begin ahead where %s', (_, seconds, lead) => {
  expect(leadSeconds(seconds)).toBe(lead);
});
