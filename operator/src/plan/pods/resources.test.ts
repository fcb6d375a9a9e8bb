import { expect, test } from '@jest/globals';
import type { MemoryPlan } from '@llmservice/checkpoint';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { planResources } from './resources.js';

const mi = 2 ** 20;
const size = { fileBytes: 100 * mi, weightBytes: 100 * mi };
/** Of one rank, with 5 MiB of adapters. */
const plan = { rows: [{ name: 'adapters', bytes: 5 * mi }] } as unknown as MemoryPlan;
const hostPath = { kind: 'hostPath', path: '/var/cache/models', maxSize: '200Gi' };

const requested = (cache: object | null, memoryPlan: MemoryPlan | null, limits = {}): unknown => {
  const model = { uri: 's3://bucket/folder/', ...(cache === null ? {} : { cache }) };
  const service = { ...wantedService({ model, resources: { limits } }), tensor: 2 };
  return planResources(service, size, memoryPlan).requests?.['ephemeral-storage'];
};

test.each([
  ['the files of the model', null, null, '100Mi'],
  ['those of adapters on both ranks, as float32', null, plan, '120Mi'],
  ['no files of a cache', hostPath, null, undefined],
  ['those of adapters, which no cache holds', hostPath, plan, '20Mi'],
] as const)('pods request ephemeral storage for %s', (_, cache, memoryPlan, expected) => {
  expect(requested(cache, memoryPlan)).toBe(expected);
});

test('pods request what they may take, where that is said', () => {
  expect(requested(null, plan, { 'ephemeral-storage': '7Gi' })).toBe('7Gi');
});
