import { describe, expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { Deployment } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { needsActivator, planSleep, readSleepMark, type Sleep, type SleepInputs } from './sleep.js';
import { wantedReplicas } from './wanted-replicas.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const scaling = { idleAfterSeconds: 60 };
const service = (spec: object = {}, lastRequest = 'r1'): WantedService =>
  wantedService({ scaling, ...spec }, { [annotations.lastRequest]: lastRequest });
const mark = { since: '2026-01-01T00:00:00Z', generation: 3, lastRequest: 'r1' };
const inputs: SleepInputs = {
  service: service(),
  demand: { overBudget: false, warmth: { minReplicas: 0, active: [], recheckMs: null } },
  wantedReplicas: 1,
  mark: null,
  settled: true,
  idleness: { state: 'idle', forMs: 60_000 },
  activators: 2,
  uncoverable: null,
  covered: true,
  now: '2026-01-01T00:01:00Z',
};

const warm: SleepInputs['demand'] = {
  overBudget: false,
  warmth: { minReplicas: 1, active: [{ name: 'day', until: '2026-01-01T18:00:00Z' }], recheckMs: null },
};

describe('a service', () => {
  test.each<[string, Partial<SleepInputs>, Partial<Sleep>]>([
    ['falls asleep', {}, { state: 'asleep', mark: { ...mark, since: inputs.now } }],
    ['gets the activator’s endpoints first', { covered: false }, { state: 'falling' }],
    ['never does unless asked', { service: service({ scaling: {} }) }, { state: 'never' }],
    ['that is stopped does not sleep', { service: service({ stop: true }) }, { state: 'never' }],
    ['that is scaled to zero does not sleep', { service: service({ replicas: 0 }) }, { state: 'never' }],
    [
      'is idle for too short a time',
      { idleness: { state: 'idle', forMs: 59_000 } },
      { state: 'awake', note: null, recheckMs: 1_000 },
    ],
    ['works', { idleness: { state: 'busy' } }, { state: 'awake', note: null }],
    ['was not checked yet', { idleness: { state: 'unknown' } }, { state: 'awake', note: null }],
    ['loads, rolls out or fails', { settled: false }, { state: 'awake', note: null }],
    [
      'has an activator that cannot take its requests',
      { uncoverable: 'It does not fall asleep: why.' },
      { state: 'awake', note: 'It does not fall asleep: why.' },
    ],
    [
      'cannot be seen',
      { idleness: { state: 'unseen', message: 'pod a does not answer' } },
      { state: 'awake', note: 'It does not fall asleep: pod a does not answer.' },
    ],
    [
      'keeps its metrics behind keys',
      { service: service({ auth: { keysSecretRef: { name: 'k' }, protectMetrics: true } }) },
      { state: 'awake', note: expect.stringContaining('auth.protectMetrics') as never },
    ],
    [
      'has no activator',
      { activators: 0 },
      { state: 'awake', note: expect.stringContaining('activator.enabled') as never },
    ],
    ['sleeps on', { mark, settled: false, idleness: { state: 'unknown' } }, { state: 'asleep', mark }],
    ['sleeps on without an activator', { mark, activators: 0 }, { state: 'asleep', mark }],
    ['wakes by a request', { mark, service: service({}, 'r2') }, { state: 'awake' }],
    ['stays awake while a schedule holds', { demand: warm }, { state: 'awake', note: null }],
    ['wakes by a schedule', { mark, demand: warm }, { state: 'awake', note: null }],
    [
      'has more replicas than scaling by load will leave',
      { service: service({ replicas: 2, scaling: { ...scaling, maxReplicas: 4 } }) },
      { state: 'awake', note: null },
    ],
    [
      'has as many as that leaves',
      { service: service({ replicas: 2, scaling: { ...scaling, minReplicas: 2, maxReplicas: 4 } }) },
      { state: 'asleep' },
    ],
    ['whose budget is spent does not sleep', { wantedReplicas: 0 }, { state: 'never' }],
    ['wakes by a change of its spec', { mark: { ...mark, generation: 2 } }, { state: 'awake' }],
  ])('%s', (_, change, expected) => {
    const wanted = wantedReplicas(change.service ?? inputs.service);
    expect(planSleep({ ...inputs, wantedReplicas: wanted, ...change })).toMatchObject(expected);
  });
});

describe('the activator takes its requests', () => {
  const awake: Sleep = { state: 'awake', note: null, recheckMs: null };
  test.each<[string, Sleep, boolean, number | null, boolean]>([
    ['asleep', { state: 'asleep', mark }, true, null, true],
    ['about to fall asleep', { state: 'falling' }, false, 90_000, true],
    ['until a pod answers', awake, true, null, true],
    ['until endpoints everywhere know the pod', awake, true, 4_000, true],
    ['no longer', awake, true, 5_000, false],
    ['never of one that loads for the first time', awake, false, null, false],
  ])('%s', (_, sleep, covered, answering, needed) => {
    expect(needsActivator(inputs, sleep, covered, answering)).toBe(needed);
  });

  test('no more once it is stopped', () => {
    expect(
      needsActivator(
        { ...inputs, service: service({ stop: true }), wantedReplicas: 0 },
        { state: 'never' },
        true,
        null,
      ),
    ).toBe(false);
  });

  test.each([
    ['to say that the budget is spent', { idleAfterSeconds: 60 }, true],
    ['not of one that never sleeps', {}, false],
  ])('%s', (_, chosen, needed) => {
    const demand = { ...inputs.demand, overBudget: true };
    const spent = { demand, service: service({ scaling: chosen }), wantedReplicas: 0 };
    expect(needsActivator(spent, { state: 'never' }, false, null)).toBe(needed);
  });
});

describe('the mark on the Deployment', () => {
  const deployment = (text: string): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'demo', annotations: { [annotations.asleep]: text } },
  });
  test('is read as it was written', () => {
    expect(readSleepMark(deployment(JSON.stringify(mark)))).toEqual(mark);
  });
  test.each(['', 'soon', 'null', '{}', '{"since":1}'])('is none as %j', (text) => {
    expect(readSleepMark(deployment(text))).toBeNull();
  });
});
