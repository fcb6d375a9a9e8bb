import { expect, test } from '@jest/globals';
import { parseSpec } from './parse-spec.js';
import { object } from './wanted-service.fixture.js';

const violations = (spec: object) => {
  const parsed = parseSpec(object({ model: { uri: 's3://bucket/folder/' }, ...spec }));
  return parsed.ok ? [] : parsed.violations;
};
const found = (memory: unknown, spec: object = {}) =>
  violations({
    resources: { limits: { memory: '4Gi' } },
    disaggregation: { prefill: { resources: { limits: { memory } } } },
    ...spec,
  });

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

test.each<[string, object]>([
  ['engine.runtime', { engine: { runtime: 'vllm' }, accelerator: { profile: 'h100' } }],
  ['parallelism.nodes', { accelerator: { devices: 2 }, parallelism: { nodes: 2 } }],
  ['parallelism.pipeline', { accelerator: { devices: 2 }, parallelism: { pipeline: 2 } }],
  ['accelerator.devices', { accelerator: { devices: 16 } }],
  ['canary', { routing: { host: 'a.example' }, canary: { steps: [{ weight: 10 }] } }],
  ['scaling.idleAfterSeconds', { scaling: { idleAfterSeconds: 600 } }],
  ['tls.secretRef', { tls: { secretRef: { name: 'tls' } } }],
  ['engine.prefixCaching', { engine: { prefixCaching: false } }],
])(
  'prefill pods do not go with %s, and the field says so',
  (named, { accelerator, ...spec }: { accelerator?: object }) => {
    const asked = { accelerator: { resourceName: 'none', ...accelerator }, ...spec };
    const ofField = (service: object) =>
      violations(service).filter(({ path }) => path === 'spec.disaggregation');
    expect(ofField({ ...asked, disaggregation: {} })).toEqual([
      { path: 'spec.disaggregation', message: expect.stringContaining(named) },
    ]);
    expect(ofField(asked)).toEqual([]);
  },
);
