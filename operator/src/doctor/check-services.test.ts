import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../kube/types.js';
import { checkServices } from './check-services.js';
import type { ServiceFacts } from './facts.js';
import { clusterFacts, forbidden, node, read } from './facts.fixture.js';
import { missingKeys, referencesOf } from './references.js';

const s3 = { credentialsSecretRef: { name: 's3' } };
const ready = {
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status: 'True', reason: 'Serving', message: '1 of 1 pods answer.' }],
};

function linesOf(
  spec: object,
  change: Partial<ServiceFacts> = {},
  nodes = [] as ReturnType<typeof node>[],
  status = ready,
) {
  const object = {
    ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' },
    metadata: { name: 'demo', namespace: 'default', generation: 1 },
    spec: { model: { uri: 's3://b/m/', s3 }, ...spec },
    status,
  } as KubeObject;
  const services = read([{ object, references: [], checkpoint: null, ...change }]);
  return checkServices(clusterFacts({ services, nodes: read(nodes) })).map(
    ({ level, message }) => `${level}: ${message}`,
  );
}

describe('what a service names', () => {
  const reference = { kind: 'Secret', name: 's3', keys: ['A', ['B', 'C']], field: 'spec.x' } as const;

  test.each([
    ['all there', ['A', 'C'], []],
    ['a key missing', ['B'], ['A']],
    ['none of several', ['A'], ['B or C']],
  ])('%s', (_, keys, missing) => {
    expect(missingKeys(reference, keys)).toEqual(missing);
  });

  test('is found wherever the spec names it', () => {
    const found = referencesOf({
      model: {
        uri: 's3://b/m/',
        s3: { forcePathStyle: true, ...s3, caConfigMapRef: { name: 'ca' } },
        hub: {},
        oci: { delivery: 'pull', plainHttp: false },
        list: { tokenSecretRef: { name: 'lists' } },
        cache: { kind: 'pvc', claimName: 'weights', verify: 'onPull', prePull: false },
      },
      auth: { keysSecretRef: { name: 'keys' }, maxReplicas: 1, protectMetrics: false },
      administration: { keysSecretRef: { name: 'admins' } },
      tls: { secretRef: { name: 'tls' } },
      accounting: { persistentVolumeClaimRef: { name: 'log' } },
      env: [
        { name: 'AWS_ACCESS_KEY_ID', value: 'me' },
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'hub', key: 'token' } } },
      ],
      imagePullSecrets: [{ name: 'registry' }],
    });
    expect(found.map(({ name, keys }) => [name, keys])).toEqual([
      ['s3', ['AWS_SECRET_ACCESS_KEY']],
      ['ca', ['ca.crt']],
      ['lists', ['MODEL_LIST_TOKEN']],
      ['keys', [['keys.yaml', 'keys.json']]],
      ['admins', [['keys.yaml', 'keys.json']]],
      ['tls', ['tls.crt', 'tls.key']],
      ['log', []],
      ['weights', []],
      ['registry', [['.dockerconfigjson', '.dockercfg']]],
      ['hub', ['token']],
    ]);
  });

  test('and is not there is a problem; what may not be read is a warning', () => {
    expect(linesOf({}, { references: [[reference, read(null)]] })[0]).toBe(
      'problem: default/demo: the Secret s3 (spec.x) does not exist',
    );
    expect(linesOf({}, { references: [[reference, read({ keys: ['A'] })]] })[0]).toContain(
      'has no key B or C',
    );
    expect(linesOf({}, { references: [[reference, forbidden]] })[0]).toMatch(
      /^warning: .*you may not read this/,
    );
  });
});

describe('the checkpoint', () => {
  const failed = (reason: 'S3AccessDenied' | 'UnsupportedArchitecture' | 'S3Unavailable') => {
    const failure = { reason, message: 'as it is' };
    return {
      checkpoint: read(
        reason === 'S3Unavailable'
          ? ({ state: 'unavailable', failure, known: null } as const)
          : ({ state: 'failed', failure } as const),
      ),
    };
  };

  test.each([
    ['S3AccessDenied' as const, 'problem: default/demo: bucket, read from this machine: S3AccessDenied'],
    [
      'UnsupportedArchitecture' as const,
      'problem: default/demo: checkpoint, read from this machine: Unsupported',
    ],
    [
      'S3Unavailable' as const,
      'warning: default/demo: from this machine (pods may be better placed) as it is',
    ],
  ])('%s', (reason, line) => {
    expect(linesOf({}, failed(reason))[0]).toContain(line);
  });
});

describe('nodes for its pod', () => {
  const spec = { accelerator: { resourceName: 'amd.com/gpu', devices: 2, memoryPerDevice: '24Gi' } };
  const taints = [{ key: 'dedicated', value: 'llm', effect: 'NoSchedule' }];

  test.each([
    [
      'none with the resource',
      spec,
      [node('a', { 'nvidia.com/gpu': '8' })],
      'problem: default/demo: no node advertises',
    ],
    [
      'too few, and a taint',
      spec,
      [node('a', { 'amd.com/gpu': '1' }), node('b', { 'amd.com/gpu': '8' }, { spec: { taints } })],
      'with amd.com/gpu can take its pod: 1: fewer than 2 devices, 1: taint dedicated=llm:NoSchedule not tolerated',
    ],
    [
      'a taint that it tolerates',
      { ...spec, tolerations: [{ key: 'dedicated', operator: 'Exists' }] },
      [node('b', { 'amd.com/gpu': '8' }, { spec: { taints } })],
      'ok: default/demo: 1 node can take its pod (2 x amd.com/gpu)',
    ],
    [
      'a selector',
      { ...spec, nodeSelector: { pool: 'x' } },
      [node('b', { 'amd.com/gpu': '8' })],
      'nodeSelector or affinity exclude it',
    ],
    [
      'another partition than its profile says',
      { accelerator: { profile: 'mi300x-cpx-nps4', devices: 2 } },
      [
        node(
          'b',
          { 'amd.com/gpu': '8' },
          {
            labels: {
              'amd.com/gpu.product-name': 'AMD_Instinct_MI300X_OAM',
              'amd.com/compute-memory-partition': 'spx_nps1',
            },
          },
        ),
      ],
      'warning: default/demo: its memory is planned for mi300x-cpx-nps4, and b (mi300x-spx-nps1) can take its pod too',
    ],
  ])('%s', (_, change, nodes, line) => {
    expect(linesOf(change, {}, nodes).join('\n')).toContain(line);
  });
});

describe('conditions', () => {
  const long = '2025-12-31T23:29:00Z';

  test('that are well are one line', () => {
    expect(linesOf({})).toEqual(['ok: default/demo: ready']);
  });

  test('that are not are reported by their causes, each once', () => {
    const condition = (type: string, status: string, message: string) => ({
      type,
      status,
      reason: 'Why',
      message,
    });
    const conditions = [
      condition('ModelResolved', 'True', 'fine'),
      condition('Scheduled', 'False', 'no node'),
      condition('Loaded', 'Unknown', 'not started'),
      condition('Ready', 'False', 'no node'),
      condition('Reconciling', 'True', 'no node'),
    ];
    expect(linesOf({}, {}, [], { observedGeneration: 1, conditions })).toEqual([
      'problem: default/demo: Scheduled=False Why',
      'warning: default/demo: Loaded=Unknown Why',
    ]);
  });

  interface Progress {
    /** Of its conditions, and of Reconciling where that is another. */
    readonly since?: string;
    readonly started?: string;
    readonly loading?: object;
    readonly lastFailure?: object;
  }
  test.each<[string, string, Progress, string]>([
    ['that loads', 'Pulling', {}, 'info'],
    ['that does not get on', 'Scheduling', { since: long }, 'problem'],
    [
      'that loads for long',
      'Pulling',
      { since: long, loading: { phase: 'pull', bytesDone: 1, bytesTotal: 2 } },
      'info',
    ],
    ['that was stopped for long', 'Scheduling', { since: long, started: '2026-01-01T00:00:00Z' }, 'info'],
    ['that is stopped for long', 'Stopped', { since: long }, 'info'],
    ['that is stopped', 'Stopped', {}, 'info'],
    ['that is scaled to zero', 'ScaledToZero', {}, 'info'],
    ['that failed and loads again', 'Pulling', { lastFailure: { reason: 'EngineCrashed' } }, 'problem'],
    ['whose pod cannot start', 'ImagePullBackOff', {}, 'problem'],
  ])('of a service %s', (_, reason, { since = '2026-01-01T00:00:00Z', started = since, ...more }, level) => {
    const no = { status: 'False', lastTransitionTime: since };
    const conditions = [
      { ...no, type: 'Serving', reason: 'NoReadyPod', message: 'No pod answers.' },
      { ...no, type: 'Ready', reason, message: reason },
      { type: 'Reconciling', status: 'True', reason, message: reason, lastTransitionTime: started },
    ];
    expect(linesOf({}, {}, [], { observedGeneration: 1, conditions, ...more })).toEqual([
      `${level}: default/demo: Ready=False ${reason}`,
      `${level}: default/demo: Serving=False NoReadyPod`,
    ]);
  });

  interface Read {
    readonly since?: string;
    readonly failed?: object;
  }
  const failed = { lastFailure: { reason: 'EngineCrashed' } };
  test.each<[string, string, Read, string, string]>([
    ['is being read', 'Reading', {}, 'info', 'info'],
    ['is being read for a service that is stopped', 'Stopped', {}, 'info', 'info'],
    ['is being read for pods that failed', 'Reading', { failed }, 'info', 'warning'],
    ['could not be read for long', 'Reading', { since: long }, 'warning', 'warning'],
  ])(
    'of a checkpoint that %s',
    (_, reason, { since = '2026-01-01T00:00:00Z', failed: more = {} }, checkpoint, pods) => {
      const unknown = { status: 'Unknown', lastTransitionTime: since };
      const conditions = [
        { ...unknown, type: 'ModelResolved', reason: 'Reading', message: 'is read once others are' },
        { ...unknown, type: 'Fits', reason: 'ModelNotResolved', message: 'not known yet' },
        { ...unknown, type: 'Loaded', reason: 'Waiting', message: 'no pod yet' },
        { ...unknown, type: 'Ready', reason, message: 'waits for the model' },
      ];
      const lines = linesOf({}, {}, [], { observedGeneration: 1, conditions, ...more });
      const levels = Object.fromEntries(
        lines.map((line) => [/default\/demo: (\w+)/.exec(line)?.[1], line.split(':')[0]]),
      );
      expect(levels).toMatchObject({ ModelResolved: checkpoint, Loaded: pods });
    },
  );

  test('of an older generation say that the operator is not at work', () => {
    expect(linesOf({}, {}, [], { ...ready, observedGeneration: 0 })[0]).toContain(
      'has not processed its generation 1',
    );
  });

  test('a spec that this build does not take is a problem', () => {
    expect(linesOf({ replicas: 'many' })[0]).toMatch(/^problem: default\/demo: spec\.replicas/);
  });
});

describe('a class', () => {
  test('that is missing is a problem with its name', () => {
    expect(linesOf({ className: 'gpu' })).toEqual([
      'problem: default/demo: spec.className names LlmServiceClass gpu, which does not exist (there is none); create it, or name another',
    ]);
  });

  test('that may not be read is no fault of the service', () => {
    const object = {
      ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' },
      metadata: { name: 'demo', namespace: 'default', generation: 1 },
      spec: { model: { uri: 's3://b/m/', s3 }, className: 'gpu' },
      status: ready,
    } as KubeObject;
    const services = read([{ object, references: [], checkpoint: null }]);
    const lines = checkServices(clusterFacts({ services, serviceClasses: forbidden }));
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'warning: default/demo: its class: you may not read this',
      'ok: default/demo: ready',
    ]);
  });
});
