import { expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object, wantedService } from './wanted-service.fixture.js';

const claimOf = (accelerator: object) => wantedService({ accelerator }).accelerator;
const ofSpec = (spec: object) => parseSpec(object({ model: { uri: 's3://b/p' }, ...spec }));

test('a claim stands in place of the extended resource, and the profile says the rest', () => {
  expect(claimOf({ profile: 'mi300x-cpx-nps4', devices: 2, claim: {} })).toMatchObject({
    ...{ kind: 'hip', resourceName: null, devices: 2, memoryBytesPerDevice: 24574 * 2 ** 20 },
    claim: {
      state: 'planned',
      deviceClass: 'gpu.amd.com',
      selectors: [
        "has(device.attributes['gpu.amd.com'].productName) && device.attributes['gpu.amd.com'].productName.matches('^AMD[ _-]Instinct[ _-]MI300X.*$')",
        "has(device.attributes['gpu.amd.com'].type) && device.attributes['gpu.amd.com'].type == 'amdgpu-partition'",
        "has(device.attributes['gpu.amd.com'].partitionProfile) && device.attributes['gpu.amd.com'].partitionProfile == 'cpx_nps4'",
      ],
    },
  });
});

test.each([
  ['h100', 'gpu.nvidia.com', { type: 'gpu' }],
  ['h100-3g.40gb', 'mig.nvidia.com', { type: 'mig', profile: '3g.40gb' }],
  ['mi210', 'gpu.amd.com', { type: 'amdgpu' }],
  ['mi300x-spx-nps1', 'gpu.amd.com', { type: 'amdgpu', partitionProfile: 'spx_nps1' }],
])('%s is a device of %s', (profile, deviceClass, attributes) => {
  expect(claimOf({ profile, claim: {} }).claim).toMatchObject({ deviceClass, match: { attributes } });
});

test('class and selectors of the spec replace the planned ones, which nobody can count then', () => {
  const claim = { deviceClassName: 'mine', selectors: ['true'] };
  expect(claimOf({ profile: 'h100', claim }).claim).toEqual({
    ...{ state: 'planned', deviceClass: 'mine', selectors: ['true'], match: null },
  });
});

test('devices that limits ask for once more are refused', () => {
  const resources = { limits: { 'nvidia.com/gpu': 1 } };
  expect(ofSpec({ accelerator: { profile: 'h100', claim: {} }, resources })).toEqual({
    ok: false,
    violations: [
      {
        path: 'spec.resources.limits',
        message:
          'asks for nvidia.com/gpu beside spec.accelerator.claim, which asks for the devices: remove it',
      },
    ],
  });
});
