import { describe, expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object, wantedService } from './wanted-service.fixture.js';

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
    [{ method: 'ngram', uri: 's3://heads/fp8/' }, 'works with methods mtp, eagle3 and draft_model only'],
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
});
