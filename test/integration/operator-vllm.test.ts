// Services that vLLM serves: refused where only our engine could, planned from the same fields, and judged by the same
// conditions, with failures read from what Kubernetes keeps of the log.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;

const vllm = { runtime: 'vllm' as const };
const limited = { resources: { limits: { memory: '2Gi' } } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  const foreign = llamaCheckpoint({ model_type: 'gemma9', architectures: ['Gemma9ForCausalLM'] });
  world.s3.put('models', 'gemma9', { ...foreign, 'tokenizer.model': 'spm' });
  world.s3.remove('models', 'gemma9/tokenizer.json');
  world.startOperator();
}, 180_000);

afterAll(() => world.stop());

const create = (name: string, path: string, change: object = {}) =>
  world.createService(name, { model: world.model(`models/${path}/`), engine: vllm, ...limited, ...change });

describe('the API server refuses', () => {
  test.each<[string, object, string]>([
    ['int8', { engine: { ...vllm, quantization: 'int8' } }, 'spec.engine.quantization'],
    [
      'a head of another release',
      { engine: { ...vllm, speculative: { method: 'mtp', uri: 's3://b/h/' } } },
      'spec.engine.speculative.uri',
    ],
    ['keys', { engine: vllm, auth: { keysSecretRef: { name: 'k' } } }, 'spec.auth.keysSecretRef'],
    [
      'an accounting log',
      { engine: vllm, accounting: { persistentVolumeClaimRef: { name: 'c' } } },
      'spec.accounting.persistentVolumeClaimRef',
    ],
    ['a certificate', { engine: vllm, tls: { secretRef: { name: 't' } } }, 'spec.tls.secretRef'],
    ['a GGUF file', { engine: vllm, model: { uri: 's3://b/m.gguf' } }, 'spec.model.uri'],
    ['arguments for our engine', { engine: { args: ['--x'] } }, 'spec.engine.args'],
    [
      'a parser that our engine has not',
      { engine: { reasoningParser: 'granite' } },
      'spec.engine.reasoningParser',
    ],
    [
      'a parser of calls that our engine has not',
      { engine: { toolCallParser: 'x' } },
      'spec.engine.toolCallParser',
    ],
  ])('%s', async (_, spec, path) => {
    const refused = world.createService('refused', { model: { uri: 's3://b/m/' }, ...spec });
    await expect(refused).rejects.toThrow(path);
  });
});

describe('a model that our engine lacks', () => {
  test('is taken for vLLM, with what our own would say', async () => {
    await create('foreign', 'gemma9');
    const { message } = await world.condition('foreign', 'ModelResolved', 'True', 'ResolvedByAnother');
    expect(message).toContain('"gemma9"');
    await world.condition('foreign', 'Fits', 'Unknown', 'NotEstimated');
    const deployment = await world.deployment('foreign');
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            initContainers: [{ name: 'weights', image: 'example.org/runtime:1' }],
            containers: [{ name: 'runtime', image: 'example.org/vllm:1' }],
          },
        },
      },
    });
  });

  test('is refused where a shard is missing, whoever would serve it', async () => {
    world.s3.put('models', 'short', llamaCheckpoint({ model_type: 'gemma9' }));
    world.s3.remove('models', 'short/model-00002-of-00002.safetensors');
    await create('short', 'short');
    await world.condition('short', 'ModelResolved', 'False', 'CheckpointIncomplete');
    expect(await world.get(resources.deployments, 'short')).toBeNull();
  });
});

test('the plan of our engine is reported as an estimate', async () => {
  await create('known', 'llama', { accelerator: { memoryPerDevice: '1Gi' } });
  const { message } = await world.condition('known', 'Fits', 'True', 'Estimated');
  expect(message).toContain('vLLM measures for itself');
  expect((await world.status('known')).memoryPlan).toMatchObject({ estimate: true });
});

test('weights that are larger than the device are refused', async () => {
  await create('large', 'llama', { accelerator: { memoryPerDevice: '1Ki' }, resources: {} });
  const { message } = await world.condition('large', 'Fits', 'False', 'ModelTooLarge');
  expect(message).toContain('weights alone');
});

test('an accelerator without a vLLM image is reported, with the flag that names one', async () => {
  await create('gpu', 'llama', { accelerator: { resourceName: 'nvidia.com/gpu' } });
  const { message } = await world.condition('gpu', 'Scheduled', 'False', 'RuntimeImageMissing');
  expect(message).toContain('--vllm-image-cuda');
});

describe('its pod', () => {
  test('pulls, starts and serves, each with its reason', async () => {
    await create('steps', 'llama');
    await world.makePod('steps', 'steps-1');
    const scheduled = { conditions: [{ type: 'PodScheduled', status: 'True' }] };
    const container = { image: 'x', imageID: '', ready: false, restartCount: 0 };
    const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
    await world.setPodStatus('steps-1', {
      ...scheduled,
      phase: 'Pending',
      initContainerStatuses: [{ ...container, name: 'weights', state: running }],
      containerStatuses: [
        { ...container, name: 'runtime', state: { waiting: { reason: 'PodInitializing' } } },
      ],
    });
    await world.condition('steps', 'Loaded', 'False', 'Pulling');
    await world.setPodStatus('steps-1', {
      ...scheduled,
      phase: 'Running',
      initContainerStatuses: [{ ...container, name: 'weights', state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [{ ...container, name: 'runtime', state: running }],
    });
    await world.condition('steps', 'Loaded', 'False', 'Starting');
    await world.podServes('steps-1');
    for (const type of ['Loaded', 'Serving', 'Ready']) await world.condition('steps', type, 'True');
    expect((await world.status('steps')).loading).toBeUndefined();
  });

  test('that cannot have what was asked for is stopped, with the remedy of its log', async () => {
    await create('failing', 'llama');
    await world.makePod('failing', 'failing-1');
    const log =
      "ValueError: To serve at least one request with the model's max seq len (512), (4 GiB KV cache is needed, " +
      'which is larger than the available KV cache memory (1 GiB). Based on the available memory, the estimated ' +
      'maximum model length is 128.';
    await world.podFailed('failing-1', log);
    const { message } = await world.condition('failing', 'Ready', 'False', 'KvCacheTooSmall');
    expect(message).toContain('the longest that fits is 128');
    expect(message).toContain(failureKinds.KvCacheTooSmall.remedy);
    await eventually('zero replicas', async () => (await world.deployment('failing')).spec?.replicas === 0);
  });

  test('whose puller fails says why', async () => {
    await create('denied', 'llama');
    await world.makePod('denied', 'denied-1');
    const message = JSON.stringify({ reason: 'S3AccessDenied', message: 'the key was revoked' });
    await world.setPodStatus('denied-1', {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
      initContainerStatuses: [
        {
          ...{ name: 'weights', image: 'x', imageID: '', ready: false, restartCount: 1 },
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
          lastState: { terminated: { exitCode: 1, message, finishedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    });
    expect((await world.condition('denied', 'Ready', 'False', 'S3AccessDenied')).message).toContain(
      'revoked',
    );
  });
});

test('a service that changes its engine keeps its Service, and gets other pods', async () => {
  await world.createService('moving', { model: world.model('models/llama/'), ...limited });
  await world.deployment('moving');
  await world.patch(resources.llmServices, 'moving', { spec: { engine: vllm } });
  await eventually('the image of vLLM', async () => {
    const { spec } = (await world.deployment('moving')) as never as {
      spec: { template: { spec: { containers: { image: string }[] } } };
    };
    return spec.template.spec.containers[0]?.image === 'example.org/vllm:1';
  });
  expect(await world.get(resources.services, 'moving')).toMatchObject({
    spec: { ports: [{ targetPort: 'http' }] },
  });
});
