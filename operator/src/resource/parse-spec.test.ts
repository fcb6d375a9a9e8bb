import { describe, expect, test } from '@jest/globals';
import { wantedService } from './wanted-service.fixture.js';
import { parseCheckpointUri } from './checkpoint-uri.js';
import { parseSpec } from './parse-spec.js';

const object = (spec: unknown) => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name: 'demo', namespace: 'ns' },
  spec,
});

describe('parseSpec', () => {
  test('fills in every default of a manifest that says only where the model is', () => {
    expect(wantedService()).toMatchObject({
      modelName: 'demo',
      tensor: 1,
      checkpoint: { bucket: 'bucket', prefix: 'folder/' },
      accelerator: { kind: 'cpu', resourceName: null, devices: 1, memoryBytesPerDevice: null },
      spec: { replicas: 1, engine: { maxNumSeqs: 64, memoryUtilizationPercent: 85 } },
    });
  });

  test('reports every violation at once', () => {
    const parsed = parseSpec(
      object({
        model: { uri: 'http://x' },
        accelerator: { resourceName: 'intel.com/gpu', devices: 2, memoryPerDevice: 'much' },
        parallelism: { tensor: 4 },
      }),
    );
    const paths = parsed.ok ? [] : parsed.violations.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'spec.model.uri',
        'spec.accelerator.resourceName',
        'spec.parallelism.tensor',
        'spec.accelerator.memoryPerDevice',
      ]),
    );
  });

  test('knows where the head for multi-token prediction is, by field or variable', () => {
    const uri = 's3://heads/fp8/';
    const wanted = { head: { bucket: 'heads', prefix: 'fp8/', file: null } };
    expect(wantedService().head).toBeNull();
    expect(wantedService({ engine: { speculative: { method: 'mtp', uri } } })).toMatchObject(wanted);
    const env = [
      { name: 'SPECULATIVE_METHOD', value: 'mtp' },
      { name: 'SPECULATIVE_URI', value: uri },
    ];
    expect(wantedService({ env })).toMatchObject(wanted);
  });

  test.each([
    [{ method: 'ngram', uri: 's3://heads/fp8/' }, 'works with method mtp only'],
    [{ method: 'mtp', uri: 's3://heads/model.gguf' }, 'a folder with safetensors'],
  ])('refuses the head of %j', (speculative, message) => {
    const parsed = parseSpec(object({ model: { uri: 's3://b/p' }, engine: { speculative } }));
    expect(parsed).toMatchObject({
      ok: false,
      violations: [
        { path: 'spec.engine.speculative.uri', message: expect.stringContaining(message) as unknown },
      ],
    });
  });

  test('refuses more replicas than share the budgets of its keys', () => {
    const auth = { keysSecretRef: { name: 'keys' }, maxReplicas: 2 };
    const replicas = (count: number) =>
      parseSpec(object({ model: { uri: 's3://b/p' }, auth, replicas: count }));
    expect(replicas(2).ok).toBe(true);
    expect(replicas(3)).toMatchObject({ ok: false, violations: [{ path: 'spec.replicas' }] });
  });

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

  test('refuses HTTPS that gateway or activator could not verify', () => {
    const model = { uri: 's3://b/p' };
    const secretRef = { name: 'tls' };
    const caConfigMapRef = { name: 'ca' };
    const askers = { routing: { host: 'a.example' }, scaling: { idleAfterSeconds: 60 } };
    const path = 'spec.tls';
    expect(parseSpec(object({ model, tls: { secretRef } })).ok).toBe(true);
    expect(parseSpec(object({ model, tls: { secretRef }, ...askers }))).toMatchObject({
      violations: [{ path }, { path }],
    });
    expect(parseSpec(object({ model, tls: { secretRef, caConfigMapRef }, ...askers })).ok).toBe(true);
    expect(parseSpec(object({ model, tls: { caConfigMapRef } }))).toMatchObject({
      violations: [{ path: 'spec.tls.caConfigMapRef' }],
    });
  });

  test('leaves out fields of a newer CRD, which are mistakes in a manifest', () => {
    const newer = object({ model: { uri: 's3://b/p' }, engine: { later: 'auto' } });
    expect(parseSpec(newer).ok).toBe(true);
    expect(parseSpec(newer, 'manifest')).toMatchObject({
      ok: false,
      violations: [{ path: 'spec.engine.later', message: 'is not a known field' }],
    });
  });

  test.each<[string, object]>([
    ['spec.accelerator.memoryPerDevice', { accelerator: { memoryPerDevice: '1e400' } }],
    ['spec.accelerator.memoryPerDevice', { accelerator: { memoryPerDevice: '8Pi' } }],
    ['spec.sharedMemory.sizeLimit', { sharedMemory: { sizeLimit: '1e400' } }],
    [
      'spec.model.cache.maxSize',
      { model: { uri: 's3://b/p', cache: { kind: 'pvc', claimName: 'c', maxSize: '1e400' } } },
    ],
  ])('refuses more bytes than a number holds: %s', (path, spec) => {
    expect(parseSpec(object({ model: { uri: 's3://b/p' }, ...spec }))).toMatchObject({
      ok: false,
      violations: [{ path, message: 'must be a quantity above zero and below 8Pi' }],
    });
  });

  test('plans with whole bytes', () => {
    const { accelerator } = wantedService({ accelerator: { memoryPerDevice: '1.5000000001Gi' } });
    expect(accelerator.memoryBytesPerDevice).toBe(1.5 * 2 ** 30 + 1);
  });

  test.each([
    ['.', false],
    ['..', false],
    ['a/b', false],
    ['Keys', false],
    ['keys.', false],
    ['keys-1.example', true],
  ])('a Secret or ConfigMap of the name %j: %s', (name, valid) => {
    const secretKeyRef = { name, key: 'k' };
    const spec = {
      model: { uri: 's3://b/p', s3: { credentialsSecretRef: { name }, caConfigMapRef: { name } } },
      auth: { keysSecretRef: { name } },
      tls: { secretRef: { name } },
      env: [
        { name: 'A', value: 'x' },
        { name: 'B', valueFrom: { secretKeyRef } },
        { name: 'C', valueFrom: { configMapKeyRef: secretKeyRef } },
      ],
    };
    const parsed = parseSpec(object(spec));
    const paths = [
      'spec.model.s3.credentialsSecretRef.name',
      'spec.model.s3.caConfigMapRef.name',
      'spec.auth.keysSecretRef.name',
      'spec.tls.secretRef.name',
      'spec.env[1].valueFrom.secretKeyRef.name',
      'spec.env[2].valueFrom.configMapKeyRef.name',
    ];
    expect(parsed.ok ? [] : parsed.violations.map(({ path }) => path)).toEqual(valid ? [] : paths);
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

  test('names the path of what the schema refuses', () => {
    const parsed = parseSpec(object({ model: { uri: 's3://b/p' }, engine: { blockSize: 48 } }));
    expect(parsed).toMatchObject({ ok: false, violations: [{ path: 'spec.engine.blockSize' }] });
  });

  test('takes what a variable says for a field that is unset or at its default', () => {
    const service = wantedService({
      env: [
        { name: 'MAX_NUM_SEQS', value: '128' },
        { name: 'GPU_MEMORY_UTILIZATION', value: '0.92' },
        { name: 'MAX_MODEL_LEN', value: '16384' },
        { name: 'KV_CACHE_DTYPE', value: 'fp8_e4m3' },
        { name: 'MODEL_NAME', value: 'qwen3-14b' },
        { name: 'BLOCK_SIZE', value: '' },
        { name: 'NCCL_DEBUG', value: 'WARN' },
      ],
    });
    expect(service).toMatchObject({
      modelName: 'qwen3-14b',
      spec: {
        engine: {
          maxNumSeqs: 128,
          memoryUtilizationPercent: 92,
          maxModelLen: 16384,
          blockSize: 64,
          kvCacheDtype: 'fp8',
        },
      },
    });
  });

  test.each([
    ['contradicts a field', 'MAX_NUM_SEQS', '32', 'spec.env[0]', 'contradicts spec.engine.maxNumSeqs: 16'],
    ['is not a number', 'MAX_MODEL_LEN', 'long', 'spec.env[0]', 'expected a whole number'],
    ['is outside what the field allows', 'BLOCK_SIZE', '48', 'spec.engine.blockSize', 'must be one of'],
  ])('refuses a variable that %s', (_, name, value, path, message) => {
    const spec = { model: { uri: 's3://b/p' }, engine: { maxNumSeqs: 16 }, env: [{ name, value }] };
    expect(parseSpec(object(spec))).toMatchObject({
      ok: false,
      violations: [{ path, message: expect.stringContaining(message) }],
    });
  });

  test('on the CPU the memory limit less /dev/shm is what the engine may plan with', () => {
    const service = wantedService({
      resources: { limits: { memory: '2Gi' } },
      sharedMemory: { sizeLimit: '1Gi' },
    });
    expect(service.accelerator.memoryBytesPerDevice).toBe(2 ** 30);
  });

  test('on a device only what the spec says counts, and devices are the ranks', () => {
    const accelerator = { resourceName: 'amd.com/gpu', devices: 2, memoryPerDevice: '48Gi' };
    const service = wantedService({ accelerator, resources: { limits: { memory: '9Gi' } } });
    expect(service).toMatchObject({
      tensor: 2,
      accelerator: { kind: 'hip', memoryBytesPerDevice: 48 * 2 ** 30 },
    });
  });
});

describe('an accelerator by its profile', () => {
  const parsed = (accelerator: object) => parseSpec(object({ model: { uri: 's3://b/p' }, accelerator }));

  test('has its resource, its memory and its variables', () => {
    const accelerator = { profile: 'mi300x-cpx-nps4', devices: 2 };
    expect(wantedService({ accelerator })).toMatchObject({
      tensor: 2,
      accelerator: {
        kind: 'hip',
        resourceName: 'amd.com/gpu',
        memoryBytesPerDevice: 24574 * 2 ** 20,
        env: { HIP_FORCE_DEV_KERNARG: '1' },
      },
    });
  });

  test.each([
    ['amd.com/gpu', { HIP_FORCE_DEV_KERNARG: '1' }],
    ['amd.com/cpx_nps4', { HIP_FORCE_DEV_KERNARG: '1' }],
    ['nvidia.com/gpu', {}],
    ['none', {}],
  ])('%s alone, without a profile, has the variables of its vendor', (resourceName, env) => {
    expect(wantedService({ accelerator: { resourceName } }).accelerator.env).toEqual(env);
  });

  test('yields to what the manifest says', () => {
    const accelerator = { profile: 'h100-3g.40gb', resourceName: 'nvidia.com/gpu', memoryPerDevice: '30Gi' };
    expect(wantedService({ accelerator }).accelerator).toMatchObject({
      kind: 'cuda',
      resourceName: 'nvidia.com/gpu',
      memoryBytesPerDevice: 30 * 2 ** 30,
    });
  });

  test.each([
    ['mi300x-cpx-nps3', 'none', 'spec.accelerator.profile', 'mi300x-cpx-nps4'],
    ['h100', 'amd.com/gpu', 'spec.accelerator.resourceName', 'nvidia.com/gpu'],
  ])('%s with %s is refused', (profile, resourceName, path, named) => {
    expect(parsed({ profile, resourceName })).toMatchObject({
      ok: false,
      violations: [{ path, message: expect.stringContaining(named) }],
    });
  });
});

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '', file: null }],
  ['s3://bucket/a/b', { bucket: 'bucket', prefix: 'a/b/', file: null }],
  ['s3://bucket/a/b.gguf', { bucket: 'bucket', prefix: 'a/', file: 'b.gguf' }],
  ['s3://bucket/a//', { bucket: 'bucket', prefix: 'a/', file: null }],
  ['s3:///a', null],
  ['https://bucket/a', null],
  ['s3://bucket/a?x', null],
])('%s', (uri, location) => {
  expect(parseCheckpointUri(uri)).toEqual(location);
});
