import { describe, expect, it } from '@jest/globals';
import { specDefaults } from './generated/spec-defaults.js';
import { readLlmService, validateEngineConfig, validateLlmService } from './validate.js';

const manifest = (spec: object) => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name: 'tiny' },
  spec: { model: { uri: 's3://bucket/tiny/' }, ...spec },
});

const violations = (spec: object) => {
  const result = validateLlmService(manifest(spec));
  return result.ok ? [] : result.violations.map(({ path, message }) => `${path} ${message}`);
};

describe('validateLlmService', () => {
  it('fills in the same defaults as the API server', () => {
    const result = validateLlmService(manifest({}));
    expect(result).toMatchObject({ ok: true, value: { spec: specDefaults } });
  });

  it('leaves the given value alone', () => {
    const given = manifest({});
    validateLlmService(given);
    expect(given).toEqual(manifest({}));
  });

  it('reports every violation with its path', () => {
    expect(
      violations({
        engine: { blockSize: 7, colour: 'red' },
        env: [{ value: 'x' }],
        replicas: -1,
      }),
    ).toEqual([
      'spec.engine.colour is not a known field',
      'spec.engine.blockSize must be one of 16, 32, 64, 128',
      'spec.env[0].name is required',
      'spec.replicas must be >= 0',
    ]);
  });

  it('takes quantities as text and as numbers, and affinity as it comes', () => {
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } };
    expect(
      violations({ resources: { limits: { cpu: 4, memory: '64Gi' } }, affinity: { nodeAffinity } }),
    ).toEqual([]);
  });
});

describe('readLlmService', () => {
  it('leaves out what a newer CRD has, and keeps what no schema describes', () => {
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { later: 1 } } };
    const limits = { 'example.org/device': 1 };
    const spec = { engine: { later: 'auto' }, later: {}, affinity, resources: { limits } };
    const result = readLlmService(manifest(spec));
    expect(result).toMatchObject({ ok: true, value: { spec: { affinity, resources: { limits } } } });
    expect(result.ok && 'later' in { ...result.value.spec, ...result.value.spec.engine }).toBe(false);
  });

  it('reports what it knows and what is wrong', () => {
    const result = readLlmService(manifest({ engine: { blockSize: 7, later: 'auto' } }));
    expect(result).toMatchObject({ ok: false, violations: [{ path: 'spec.engine.blockSize' }] });
  });
});

describe('validateEngineConfig', () => {
  it('asks for every field, since defaults were applied before', () => {
    const result = validateEngineConfig({ model: { uri: 's3://b/m/', name: 'm', aliases: [] } });
    expect(result).toMatchObject({
      ok: false,
      violations: expect.arrayContaining([{ path: 'engine', message: 'is required' }]),
    });
  });
});
