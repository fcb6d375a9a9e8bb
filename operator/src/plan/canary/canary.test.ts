import { describe, expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { Deployment, Pod } from '../../kube/types.js';
import type { RevisionPlan } from '../revision-plan.js';
import { planCanary, type CanaryInputs, type Stage } from './canary.js';

const revision = (name: string) => ({ template: { revision: name } }) as unknown as RevisionPlan['good'];

function pod(name: string, change: { deleted?: boolean; ready?: boolean; hash?: string } = {}): Pod {
  const { deleted = false, ready = true, hash = `hash-${name}` } = change;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { 'pod-template-hash': hash },
      annotations: { [annotations.revision]: name },
      ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  };
}

const deployment = (of: string, spec: object = {}, replicas = 1): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo', generation: 2 },
  spec: { template: { metadata: { annotations: { [annotations.revision]: of } } }, ...spec },
  status: { observedGeneration: 2, replicas },
});

const steps = [
  { weight: 10, mirrorPercent: 0, pauseSeconds: 60 },
  { weight: 50, mirrorPercent: 0 },
];
const analysis = {
  ...{ minRequests: 50, maxErrorPoints: 1, maxRefusalPoints: 5, maxFirstTokenIncreasePercent: 25 },
  ...{ maxTokenTimeIncreasePercent: 25, maxLengthChangePercent: 50 },
};
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const stage = (change: Partial<Stage> = {}): Stage => ({
  ...{ revision: 'new', phase: 'step', step: 1, steps: 2, weight: 10, mirrorPercent: 0 },
  ...{ since: at(0), stableHash: 'hash-old' },
  ...change,
});

/** A canary `new` beside the stable `old`, both answering, in the first step. */
const inputs: CanaryInputs = {
  spec: { replicas: 1, steps },
  revisions: { target: revision('new'), good: revision('old'), standing: 'challenger' },
  failed: false,
  deployment: deployment('old'),
  own: deployment('new'),
  pods: [pod('old'), pod('new')],
  previous: stage(),
  promote: '',
  wantedReplicas: 1,
  routed: true,
  accepted: true,
  verdict: { state: 'open' },
  now: at(30),
};
const plan = (change: Partial<CanaryInputs> = {}) => planCanary({ ...inputs, ...change });

describe('before it begins', () => {
  const before = { own: null, previous: null, pods: [pod('old')] };

  test.each<[string, Partial<CanaryInputs>, object]>([
    ['a service without one has none', { spec: undefined }, { state: 'off' }],
    [
      'what the spec wants is there',
      { revisions: { target: revision('old'), good: revision('old'), standing: 'good' } },
      { state: 'settled' },
    ],
    [
      'a first revision is not tried',
      { deployment: null, revisions: { target: revision('new'), good: null, standing: 'first' } },
      { state: 'settled' },
    ],
    [
      'it starts, and gets nothing yet',
      {},
      { state: 'trying', stage: { phase: 'starting', step: 0, weight: 0 } },
    ],
    ['without replicas it waits', { wantedReplicas: 0 }, { state: 'waiting', why: 'NoReplicas' }],
    [
      'stable pods that do not answer come first',
      { pods: [pod('old', { ready: false })] },
      { state: 'waiting', why: 'StableNotReady' },
    ],
    [
      'so do those of a rollout that has not ended',
      { pods: [pod('old'), pod('older')] },
      { state: 'waiting', why: 'StableNotReady' },
    ],
    [
      'pods on their way out hold nothing up',
      { pods: [pod('old'), pod('older', { deleted: true })] },
      { state: 'trying' },
    ],
    ['what failed is not tried', { failed: true }, { state: 'settled' }],
  ])('%s', (_, change, expected) => {
    expect(plan({ ...before, ...change })).toMatchObject(expected);
  });
});

describe('a step', () => {
  test.each<[string, Partial<CanaryInputs>, object]>([
    [
      'begins once all its pods answer',
      { previous: stage({ phase: 'starting', step: 0 }) },
      { stage: { step: 1, weight: 10, since: at(30) } },
    ],
    [
      'does not begin with some of them',
      { previous: stage({ phase: 'starting', step: 0 }), spec: { replicas: 2, steps } },
      { stage: { phase: 'starting', step: 0 } },
    ],
    [
      'lasts as long as it says',
      {},
      { note: 'Running', recheckMs: 30_000, stage: { step: 1, since: at(0) } },
    ],
    ['is followed by the next', { now: at(60) }, { stage: { step: 2, weight: 50, since: at(60) } }],
    [
      'without an end waits for a person',
      { previous: stage({ step: 2 }), now: at(9000) },
      { note: 'Paused', recheckMs: null, stage: { step: 2 } },
    ],
    [
      'gets nothing while no pod answers',
      { pods: [pod('old'), pod('new', { ready: false })] },
      { note: 'Starting', stage: { step: 1, weight: 0 } },
    ],
    [
      'begins anew where its pods came back',
      { previous: stage({ phase: 'starting' }) },
      { stage: { step: 1, weight: 10, since: at(30) } },
    ],
    [
      'is the first one again for another change',
      { previous: stage({ revision: 'newer', step: 2 }) },
      { stage: { revision: 'new', phase: 'starting', step: 0 } },
    ],
    [
      'that is analysed does not end unjudged',
      { spec: { replicas: 1, steps, analysis }, now: at(90) },
      { note: 'TooFewRequests', stage: { step: 1 } },
    ],
    [
      'that passed its analysis ends',
      { spec: { replicas: 1, steps, analysis }, now: at(90), verdict: { state: 'passed' } },
      { stage: { step: 2 } },
    ],
  ])('%s', (_, change, expected) => {
    expect(plan(change)).toMatchObject({ state: 'trying', ...expected });
  });

  test('stalls without a route', () => {
    expect(plan({ routed: false, now: at(90) })).toMatchObject({
      note: 'NotRouted',
      stage: { step: 1, weight: 0 },
    });
  });

  test('does not pass a step whose route no gateway took', () => {
    expect(plan({ accepted: false, now: at(61) })).toMatchObject({
      state: 'trying',
      note: 'NotRouted',
      recheckMs: 5_000,
      stage: { step: 1, weight: 10, since: at(0) },
    });
  });

  test('keeps the stable pods selected where none of them answers', () => {
    const pods = [pod('old', { ready: false }), pod('new')];
    expect(plan({ pods })).toMatchObject({ stage: { stableHash: 'hash-old' } });
  });
});

describe('promotion', () => {
  const promoted = {
    deployment: deployment('new', { paused: true }),
    previous: stage({ phase: 'promoting' }),
  };

  test.each<[string, Partial<CanaryInputs>, object]>([
    [
      'follows the last step',
      { spec: { replicas: 1, steps: steps.slice(0, 1) }, now: at(60) },
      { state: 'promoting', seen: false },
    ],
    ['or the word of a person', { promote: 'new' }, { state: 'promoting' }],
    ['who means this revision', { promote: 'old' }, { state: 'trying' }],
    ['or the end of spec.canary', { spec: undefined }, { state: 'promoting' }],
    [
      'leaves room for all pods of both',
      {
        spec: undefined,
        pods: ['old', 'old', 'new', 'new', 'new'].map((each) => pod(each)),
        wantedReplicas: 2,
      },
      { state: 'promoting', surplus: 3 },
    ],
    ['gives pods up once the Deployment is known to be paused', promoted, { state: 'promoting', seen: true }],
    [
      'does not before',
      { ...promoted, deployment: { ...promoted.deployment, status: { observedGeneration: 1 } } },
      { state: 'promoting', seen: false },
    ],
    ['waits for the pods', { ...promoted, own: null, now: at(20) }, { state: 'promoting' }],
    ['but not for ever', { ...promoted, own: null, now: at(31) }, { state: 'settled' }],
    [
      'and ends with them',
      { ...promoted, own: null, deployment: deployment('new', { paused: true }, 2), now: at(16) },
      { state: 'settled' },
    ],
    ['is undone where its pods fail', { ...promoted, failed: true }, { state: 'leaving' }],
  ])('%s', (_, change, expected) => {
    expect(plan(change)).toMatchObject(expected);
  });
});

describe('going back', () => {
  const back = { revisions: { target: revision('old'), good: revision('old'), standing: 'good' } } as const;
  const leaving = { ...back, previous: stage({ phase: 'leaving' }) };

  test.each<[string, Partial<CanaryInputs>, object]>([
    [
      'takes its requests first',
      back,
      { state: 'leaving', gone: false, stage: { weight: 0, since: at(30), stableHash: 'hash-old' } },
    ],
    ['then its pods', leaving, { state: 'leaving', gone: true }],
    ['and selects only stable pods until they are gone', { ...leaving, own: null }, { state: 'leaving' }],
    [
      'ends with them',
      { ...leaving, own: null, pods: [pod('old'), pod('new', { deleted: true })] },
      { state: 'settled' },
    ],
    ['follows a failure', { failed: true }, { state: 'leaving' }],
    ['and a service that is stopped', { wantedReplicas: 0 }, { state: 'leaving' }],
  ])('%s', (_, change, expected) => {
    expect(plan(change)).toMatchObject(expected);
  });
});
