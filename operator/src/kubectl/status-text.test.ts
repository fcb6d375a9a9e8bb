import { describe, expect, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import {
  describeLoading,
  describeService,
  describeServices,
  outcome,
  progress,
  type ServiceObject,
} from './status-text.js';

const now = new Date('2026-01-01T00:10:00Z');
const condition = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message = `${reason}.`,
) => ({
  ...{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
});

function service(status: LlmServiceStatus, generation = 1): ServiceObject {
  return {
    ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' },
    metadata: { name: 'demo', namespace: 'experimental', generation },
    spec: { replicas: 2 },
    status: { observedGeneration: 1, ...status },
  };
}

const serving = service({
  url: 'http://demo.example/',
  model: 'demo',
  readyReplicas: 2,
  conditions: [
    condition('ModelResolved', 'True', 'Resolved'),
    condition('Ready', 'True', 'Serving', '2 of 2 pods answer.'),
  ],
  memoryPlan: {
    ...{ devices: 2, memoryBytes: 24 * 2 ** 30, maxModelLen: 32_768, maxConcurrencyAtMaxLen: 11 },
    rows: [{ name: 'weights', bytes: 14 * 2 ** 30, note: 'of one rank' }],
  },
});

const gib = 2 ** 30;
const loading = service({
  conditions: [
    condition('Loaded', 'False', 'Pulling', 'Weights are pulled.'),
    condition('Serving', 'False', 'NoReadyPod', 'No pod answers.'),
    condition('StreamingVerified', 'Unknown', 'NotChecked', 'It is checked once a pod answers.'),
    condition('Ready', 'False', 'Pulling', 'Weights are pulled.'),
    condition('Reconciling', 'True', 'Pulling', 'Weights are pulled.'),
    condition('Stalled', 'False', 'NotStalled'),
  ],
  loading: {
    phase: 'pull',
    bytesDone: 7 * gib,
    bytesTotal: 28 * gib,
    bytesPerSecond: gib / 2,
    etaSeconds: 42,
  },
});

const failed = service({
  conditions: [
    condition('ModelResolved', 'False', 'S3AccessDenied', 'reading was refused. Check the Secret.'),
    condition('Ready', 'False', 'S3AccessDenied', 'reading was refused. Check the Secret.'),
    condition('Reconciling', 'False', 'Settled'),
    condition('Stalled', 'True', 'S3AccessDenied'),
  ],
  lastFailure: {
    ...{ reason: 'S3AccessDenied', message: 'refused', remedy: 'Check the Secret.', terminal: true },
    ...{ at: '2026-01-01T00:05:00Z', pod: 'demo-1' },
  },
});

test('a service that serves: where, what, how many, and its plan', () => {
  expect(describeService(serving, now).split('\n')).toEqual([
    'experimental/demo: ready, Serving: 2 of 2 pods answer.',
    '  url       http://demo.example/',
    '  model     demo',
    '  replicas  2 ready of 2',
    '  plan      up to 32768 tokens a sequence, 11 such at once, on 2 x 24.00 GiB',
    '    weights             14.00 GiB  of one rank',
    '',
  ]);
});

test('a service that serves and yet has something wrong says so', () => {
  const buffered = condition('StreamingVerified', 'False', 'Buffered', 'Something keeps events back.');
  const text = describeService(
    { ...serving, status: { ...serving.status, conditions: [...serving.status!.conditions!, buffered] } },
    now,
  );
  expect(text).toContain('experimental/demo: ready, Serving');
  expect(text).toContain('  StreamingVerified=False Buffered\n    Something keeps events back.');
});

test('a service that loads: how far, and each cause once', () => {
  expect(describeService(loading, now).split('\n')).toEqual([
    'experimental/demo: not ready (Pulling)',
    '  replicas  0 ready of 2',
    '  loading   from S3 [######..................] 7.00 GiB of 28.00 GiB, 0.50 GiB/s, 42 s left',
    '  Loaded=False Pulling',
    '    Weights are pulled.',
    '  Serving=False NoReadyPod',
    '    No pod answers.',
    '',
  ]);
});

test('a service that failed: when, where and the remedy', () => {
  const text = describeService(failed, now);
  expect(text).toContain('experimental/demo: not ready (S3AccessDenied)');
  expect(text).toContain(
    'last failure  S3AccessDenied, 5 min ago, pod demo-1; nothing is tried until something changes',
  );
  expect(text).toContain('-> Check the Secret.');
  expect(text.match(/reading was refused/g)).toHaveLength(1);
});

test('many services: a line each, and why for those that are not ready', () => {
  expect(describeServices([serving, loading], false).split('\n')).toEqual([
    'NAME  READY  REASON   REPLICAS  MODEL  URL',
    'demo  True   Serving  2/2       demo   http://demo.example/',
    'demo  False  Pulling  0/2',
    '  from S3 [######..................] 7.00 GiB of 28.00 GiB, 0.50 GiB/s, 42 s left',
    '',
  ]);
});

describe('the outcome', () => {
  const settled = service({
    conditions: [condition('Ready', 'False', 'Stopped'), condition('Reconciling', 'False', 'Settled')],
  });
  test.each<[string, ServiceObject, 'ready' | 'failed' | null]>([
    ['of what serves', serving, 'ready'],
    ['of what loads', loading, null],
    ['of what failed', failed, 'failed'],
    ['of what is stopped', settled, 'failed'],
    [
      'of a change that nobody processed',
      { ...serving, metadata: { ...serving.metadata, generation: 2 } },
      null,
    ],
    ['of what is new', service({}), null],
  ])('%s', (_, object, expected) => {
    expect(outcome(object)).toBe(expected);
  });
});

test('a change that the operator has not seen is reported before what was', () => {
  expect(progress({ ...loading, metadata: { ...loading.metadata, generation: 2 } })).toMatch(
    /not processed the newest/,
  );
});

test('a load of nothing divides by nothing', () => {
  expect(
    describeLoading({ phase: 'warmup', bytesDone: 1, bytesTotal: 1, shapesDone: 3, shapesTotal: 12 }),
  ).toBe('warming up 3/12');
  expect(describeLoading({ phase: 'load', bytesDone: 0, bytesTotal: 0 })).toBe(
    `into memory [${'.'.repeat(24)}] 0.0 MiB of 0.0 MiB`,
  );
});

test.each<[string | undefined, string, string[]]>([
  ['inferencePool', 'EndpointPickerPending', ['  pool      EndpointPickerPending: EndpointPickerPending.']],
  ['inferencePool', 'InferencePool', ['  pool      InferencePool: InferencePool.']],
  ['service', 'Accepted', []],
  [undefined, 'Accepted', []],
])('a service whose backend is %s says of %s where completions go', (backend, reason, expected) => {
  const { conditions = [] } = serving.status ?? {};
  const routed = service({
    ...serving.status,
    conditions: [...conditions, condition('Routed', 'True', reason)],
  });
  const spec = { replicas: 2, routing: backend === undefined ? {} : { backend } };
  const lines = describeService({ ...routed, spec }, now).split('\n');
  expect(lines.filter((line) => line.startsWith('  pool'))).toEqual(expected);
});

test('what a service took of its class is said, with the bound on its pods', () => {
  const gives = 'Generation 3 of LlmServiceClass small gives accelerator.profile.';
  const taken = { name: 'small', generation: 3, specHash: 'a', admittedHash: 'b', refresh: '' };
  const conditions = [condition('ClassResolved', 'True', 'Resolved', gives)];
  const of = (more: object) =>
    describeService(service({ conditions, class: { ...taken, ...more } } as LlmServiceStatus), now);
  expect(of({})).toContain(`\n  class     ${gives}\n`);
  expect(of({ maxReplicas: 4 })).toContain(`${gives} It allows 4 pods.\n`);
  expect(describeService(serving, now)).not.toContain('class');
});
