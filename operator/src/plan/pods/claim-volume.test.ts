import { expect, test } from '@jest/globals';
import { paths } from '@llmservice/crds';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { container, podSpec } from '../children.fixture.js';
import { planVllmArgs } from './vllm-args.js';

const model = { uri: 'pvc://models/qwen3/fp8/' };
const mount = { name: 'checkpoint', mountPath: `${paths.claims}/models`, readOnly: true };

test('a claim is mounted whole and read-only, and no disk is asked for', () => {
  expect(podSpec({ model })['volumes']).toContainEqual({
    name: 'checkpoint',
    persistentVolumeClaim: { claimName: 'models', readOnly: true },
  });
  expect(container({ model })['volumeMounts']).toContainEqual(mount);
});

test('vLLM loads from it, and nothing pulls before', () => {
  const spec = { model, engine: { runtime: 'vllm' } };
  expect(planVllmArgs(wantedService(spec))[0]).toBe(`${paths.claims}/models/qwen3/fp8`);
});
