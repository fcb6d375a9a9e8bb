import { describe, expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object, wantedService } from './wanted-service.fixture.js';

describe('parseSpec', () => {
  test('plans with whole bytes', () => {
    const { accelerator } = wantedService({ accelerator: { memoryPerDevice: '1.5000000001Gi' } });
    expect(accelerator.memoryBytesPerDevice).toBe(1.5 * 2 ** 30 + 1);
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
