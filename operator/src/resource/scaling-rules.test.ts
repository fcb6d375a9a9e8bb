import { describe, expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object } from './wanted-service.fixture.js';

describe('parseSpec', () => {
  const schedule = { name: 'day', start: '0 8 * * 1-5', end: '0 18 * * 1-5' };
  test.each<[string, object, string]>([
    ['no bound above', { scaling: { minReplicas: 2 } }, 'spec.scaling.minReplicas'],
    [
      'a schedule of more',
      { scaling: { maxReplicas: 1, schedules: [{ ...schedule, minReplicas: 2 }] } },
      'spec.scaling.schedules',
    ],
    [
      'more than share keys',
      { scaling: { maxReplicas: 2 }, auth: { keysSecretRef: { name: 'k' } } },
      'spec.scaling',
    ],
    [
      'to wake by a host that is read as a name inside the cluster',
      { scaling: { idleAfterSeconds: 60 }, routing: { host: 'chat.prod.svc.example.com' } },
      'spec.scaling.idleAfterSeconds',
    ],
    [
      'an hour that is none',
      { scaling: { schedules: [{ ...schedule, start: '0 25 * * *' }] } },
      'spec.scaling.schedules[0].start',
    ],
    [
      'a day that never comes',
      { scaling: { schedules: [{ ...schedule, end: '0 0 30 2 *' }] } },
      'spec.scaling.schedules[0].end',
    ],
    [
      'an unknown time zone',
      { scaling: { schedules: [{ ...schedule, timeZone: 'Mars/Base' }] } },
      'spec.scaling.schedules[0].timeZone',
    ],
    [
      'an unknown time zone of months',
      { budget: { deviceHoursPerMonth: 1, timeZone: 'Mars/Base' } },
      'spec.budget.timeZone',
    ],
  ])('refuses %s', (_, change, path) => {
    expect(parseSpec(object({ model: { uri: 's3://b/p' }, ...change }))).toMatchObject({
      ok: false,
      violations: [{ path }],
    });
  });

  test('lets a service wake by its own name inside the cluster', () => {
    const { metadata, ...rest } = object({
      model: { uri: 's3://b/p' },
      scaling: { idleAfterSeconds: 60 },
      routing: { host: 'chat.prod.svc.example.com' },
    });
    const named = { ...metadata, name: 'chat', namespace: 'prod' };
    expect(parseSpec({ ...rest, metadata: named }).ok).toBe(true);
  });

  test('searches once for a time that never comes', () => {
    const never = { start: '0 0 31 2,4,6,9,11 *', end: '0 0 30 2 *' };
    const schedules = Array.from({ length: 16 }, (_, i) => ({ name: `s${i}`, minReplicas: 1, ...never }));
    const parse = (): number => {
      const begun = performance.now();
      const zoned = schedules.map((each) => ({ ...each, timeZone: 'Europe/Berlin' }));
      expect(parseSpec(object({ model: { uri: 's3://b/p' }, scaling: { schedules: zoned } })).ok).toBe(false);
      return performance.now() - begun;
    };
    const first = parse();
    // The quickest: others may have waited for a processor.
    const later = Math.min(...Array.from({ length: 20 }, parse));
    expect(later).toBeLessThan(first / 2);
  });
});
