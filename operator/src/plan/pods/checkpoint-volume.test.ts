import { describe, expect, test } from '@jest/globals';
import { paths } from '@llmservice/crds';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { container, podSpec } from '../children.fixture.js';
import { checkpointVolumes } from './checkpoint-volume.js';
import { planEngineConfig } from './engine-config.js';
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

describe('an artifact that is delivered as an image', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  const artifact = {
    uri: 'oci://registry.example.org/models/qwen3:v1/fp8/',
    oci: { delivery: 'imageVolume' },
  };
  const image = (reference: string) => [
    { name: 'checkpoint', image: { reference, pullPolicy: 'IfNotPresent' } },
  ];

  test('is mounted by the digest that was judged, else by its tag, and no disk is asked for', () => {
    const service = wantedService({ model: artifact });
    expect(checkpointVolumes(service, digest)).toEqual(image(`registry.example.org/models/qwen3@${digest}`));
    expect(checkpointVolumes(service, undefined)).toEqual(image('registry.example.org/models/qwen3:v1'));
    const planned = container({ model: artifact });
    expect(planned['volumeMounts']).toContainEqual({
      name: 'checkpoint',
      mountPath: paths.modelImage,
      readOnly: true,
    });
    expect(JSON.stringify(planned['resources'])).not.toContain('ephemeral-storage');
    expect(JSON.stringify(container({ model: { uri: artifact.uri } })['resources'])).toContain(
      'ephemeral-storage',
    );
  });

  test('is read by the runtime where it is mounted, and not pulled', () => {
    expect(planEngineConfig(wantedService({ model: artifact })).model).toMatchObject({
      uri: artifact.uri,
      oci: { mounted: true },
    });
    expect(planEngineConfig(wantedService({ model: { uri: artifact.uri } })).model).not.toHaveProperty('oci');
  });

  test('is where vLLM loads from', () => {
    const spec = { model: artifact, engine: { runtime: 'vllm' } };
    expect(planVllmArgs(wantedService(spec))[0]).toBe(`${paths.modelImage}/fp8`);
    expect(podSpec(spec)['initContainers']).toBeUndefined();
  });
});
