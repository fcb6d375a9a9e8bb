import { expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object } from './wanted-service.fixture.js';

const found = (memory: unknown, spec: object = {}) => {
  const parsed = parseSpec(
    object({
      model: { uri: 's3://bucket/folder/' },
      resources: { limits: { memory: '4Gi' } },
      disaggregation: { prefill: { resources: { limits: { memory } } } },
      ...spec,
    }),
  );
  return parsed.ok ? [] : parsed.violations;
};

test('on the CPU prefill pods have the memory that all pods plan with', () => {
  expect(found('4096Mi')).toEqual([]);
  expect(found('8Gi')).toEqual([]);
  expect(found('2Gi')).toEqual([
    {
      path: 'spec.disaggregation.prefill.resources.limits.memory',
      message: expect.stringMatching(
        /^is 2Gi, less than spec\.resources\.limits\.memory \(4Gi\).*: set 4Gi or more/,
      ),
    },
  ]);
  expect(found('2Gi', { resources: {} })).toEqual([]);
  expect(found('2Gi', { accelerator: { profile: 'h100' } })).toEqual([]);
});

test('a claim of devices leaves nothing to ask for', () => {
  const accelerator = { profile: 'h100', claim: {} };
  const disaggregation = { prefill: { resources: { limits: { 'nvidia.com/gpu': 1 } } } };
  expect(found('8Gi', { accelerator, disaggregation })).toMatchObject([
    { path: 'spec.disaggregation.prefill.resources.limits' },
  ]);
});
