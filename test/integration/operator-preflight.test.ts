// What is wrong with a checkpoint is reported in status before any pod exists, each with its own reason and remedy.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds, type FailureReason } from '@llmservice/crds';
import { splitGguf } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World, type RunningOperator } from './operator-world.js';
import {
  ggufName,
  ggufWithoutTokenizer,
  refusedCheckpoints,
  refusedGgufs,
  wholeGguf,
} from './refused-checkpoints.js';

jest.setTimeout(180_000);

let world: World;
let operator: RunningOperator;

const oneGi = { resources: { limits: { memory: '1Gi' } } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'good', llamaCheckpoint());
  operator = world.startOperator();
}, 180_000);

afterAll(() => world.stop());

/** Waits for the refusal, and asserts what every refusal has in common. */
async function expectRefused(name: string, condition: string, reason: FailureReason): Promise<string> {
  const { message } = await world.condition(name, condition, 'False', reason);
  expect(message).toContain(failureKinds[reason].remedy);
  await world.condition(name, 'Ready', 'False', reason);
  await world.condition(name, 'Stalled', 'True', reason);
  expect(await world.get(resources.deployments, name)).toBeNull();
  return message;
}

test('a gs:// URI is judged by the endpoint and the keys of spec.model.s3', async () => {
  const { s3 } = world.model('models/good/');
  await world.createService('google', { model: { uri: 'gs://models/good/', s3 }, ...oneGi });
  await world.condition('google', 'ModelResolved', 'True');
  await world.createService('no-google', { model: { uri: 'gs://models/bad/', s3 }, ...oneGi });
  await expectRefused('no-google', 'ModelResolved', 'ModelNotFound');
});

describe('a checkpoint that cannot serve', () => {
  const files = llamaCheckpoint();
  test.each(refusedCheckpoints)(
    '%s is refused as %s, with no Deployment ever',
    async (name, reason, change, removed, part) => {
      world.s3.put('models', name, { ...files, ...change });
      for (const file of removed) world.s3.remove('models', `${name}/${file}`);
      await world.createService(name, { model: world.model(`models/${name}/`), ...oneGi });
      expect(await expectRefused(name, 'ModelResolved', reason)).toContain(part);
    },
  );

  test('is reported by one event, however often it is checked', async () => {
    const { uid } = (await world.get(resources.llmServices, 'unknown-model'))?.metadata ?? {};
    const { items } = await world.api.admin.get<{ items: KubeObject[] }>('/api/v1/namespaces/default/events');
    const events = items.filter(
      (event) => (event as unknown as { involvedObject: { uid: string } }).involvedObject.uid === uid,
    );
    expect(events).toEqual([expect.objectContaining({ type: 'Warning', reason: 'UnsupportedArchitecture' })]);
  });
});

describe('a GGUF file', () => {
  const spec = { accelerator: { memoryPerDevice: '768Mi' }, engine: { maxNumSeqs: 8 } };

  const parts = splitGguf(wholeGguf, 'llama', 2);
  const [first = '', second = ''] = Object.keys(parts);

  beforeAll(() => {
    world.s3.put('models', 'gguf', { [ggufName]: wholeGguf });
    world.s3.put('models', 'gguf-split', parts);
    world.s3.put('models', 'gguf-beside', { [ggufName]: ggufWithoutTokenizer, 'tokenizer.json': '{}' });
  });

  test.each(['gguf/llama.gguf', 'gguf/', 'gguf-beside/llama.gguf', 'gguf-split/', `gguf-split/${first}`])(
    'at %s is accepted, and planned by its header',
    async (path) => {
      const name = path.replaceAll(/[/.]+/g, '-').replace(/-$/, '');
      await world.createService(name, { ...spec, model: world.model(`models/${path}`) });
      await world.condition(name, 'ModelResolved', 'True');
      await world.condition(name, 'Fits', 'True');
      await world.deployment(name);
      // In BF16, in panels of 64 rows: embedding, o and down one each, of 32, 32 and 64 columns, q with k and v one,
      // gate with up two; three norms in float32. Keys and values of 2 heads of 8.
      const weightBytes = 2 * 64 * (32 + 32 + 64 + 32 + 2 * 32) + 3 * 4 * 32;
      const kvBytesPerToken = 2 * 2 * 8 * 2;
      expect((await world.status(name)).memoryPlan).toMatchObject({
        ...{ devices: 1, weightBytes, stateBytes: 0, kvBytesPerToken, kvBytesPerBlock: 64 * kvBytesPerToken },
        ...{ maxModelLen: 64, numBlocks: 8, maxConcurrencyAtMaxLen: 8 },
      });
    },
  );

  test.each(refusedGgufs)(
    '%s is refused (%s: %s), with no Deployment ever',
    async (name, condition, reason, bytes, engine, part) => {
      world.s3.put('models', name, { [ggufName]: bytes });
      await world.createService(name, {
        ...spec,
        model: world.model(`models/${name}/${ggufName}`),
        engine: { ...spec.engine, ...engine },
      });
      expect(await expectRefused(name, condition, reason)).toContain(part);
    },
  );

  test('that lacks a part is refused by the part’s name', async () => {
    world.s3.put('models', 'gguf-part', { [first]: parts[first]! });
    await world.createService('gguf-part', { ...spec, model: world.model('models/gguf-part/') });
    expect(await expectRefused('gguf-part', 'ModelResolved', 'CheckpointIncomplete')).toContain(second);
  });

  test('that is not in the bucket is refused', async () => {
    await world.createService('gguf-absent', { ...spec, model: world.model('models/gguf/other.gguf') });
    expect(await expectRefused('gguf-absent', 'ModelResolved', 'ModelNotFound')).toContain('other.gguf');
  });
});

describe('access to the bucket', () => {
  test('a bucket that does not exist', async () => {
    await world.createService('no-bucket', { model: world.model('nowhere/x/'), ...oneGi });
    await expectRefused('no-bucket', 'ModelResolved', 'BucketNotFound');
  });

  test('a wrong key, a missing Secret and a Secret without the key', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret' };
    const forS3 = { namespace: 'default', labels: { 'llmservice.dev/secret-for': 's3' } };
    const wrong = { AWS_ACCESS_KEY_ID: 'tester', AWS_SECRET_ACCESS_KEY: 'wrong' };
    await world.create({ ...secret, metadata: { name: 'wrong', ...forS3 }, stringData: wrong });
    await world.create({ ...secret, metadata: { name: 'empty', ...forS3 } });
    for (const name of ['wrong', 'absent', 'empty']) {
      const model = world.model('models/good/');
      const s3 = { ...model.s3, credentialsSecretRef: { name } };
      await world.createService(`key-${name}`, { model: { ...model, s3 }, ...oneGi });
    }
    await expectRefused('key-wrong', 'ModelResolved', 'S3AccessDenied');
    expect(await expectRefused('key-absent', 'ModelResolved', 'S3AccessDenied')).toContain('Secret absent');
    expect(await expectRefused('key-empty', 'ModelResolved', 'S3AccessDenied')).toContain(
      'AWS_ACCESS_KEY_ID',
    );
  });

  test('a link-local endpoint is refused, by address and by name', async () => {
    const uri = 's3://models/good/';
    await world.createService('link-local', {
      model: { uri, s3: { endpoint: 'http://169.254.169.254' } },
      ...oneGi,
    });
    expect(await expectRefused('link-local', 'ModelResolved', 'InvalidSpec')).toContain('169.254.169.254');
    await world.createService('mapped', {
      model: { uri, s3: { endpoint: 'http://[::ffff:a9fe:a9fe]' } },
      ...oneGi,
    });
    expect(await expectRefused('mapped', 'ModelResolved', 'InvalidSpec')).toContain('link-local');
  });

  test('credentials and endpoint may come from env, as the pod takes them', async () => {
    const env = [
      { name: 'AWS_ENDPOINT_URL', value: world.s3.endpoint },
      { name: 'AWS_ACCESS_KEY_ID', valueFrom: { secretKeyRef: { name: 's3', key: 'AWS_ACCESS_KEY_ID' } } },
      {
        name: 'AWS_SECRET_ACCESS_KEY',
        valueFrom: { secretKeyRef: { name: 's3', key: 'AWS_SECRET_ACCESS_KEY' } },
      },
    ];
    await world.createService('env-keys', { model: { uri: 's3://models/good/' }, env, ...oneGi });
    await world.condition('env-keys', 'ModelResolved', 'True');
  });
});

describe('the memory plan', () => {
  test('a context longer than fits names the length that does', async () => {
    world.s3.put('models', 'long', llamaCheckpoint({ max_position_embeddings: 4_000_000 }));
    const spec = { model: world.model('models/long/'), accelerator: { memoryPerDevice: '768Mi' } };
    await world.createService('too-long', { ...spec, engine: { maxModelLen: 4_000_000, maxNumSeqs: 1 } });
    const message = await expectRefused('too-long', 'Fits', 'KvCacheTooSmall');
    const fits = Number(/the longest that does is (\d+)/.exec(message)?.[1]);
    await world.patch(resources.llmServices, 'too-long', { spec: { engine: { maxModelLen: fits } } });
    await world.condition('too-long', 'Fits', 'True');
    await world.deployment('too-long');
  });

  test('ranks that do not divide the model name those that do', async () => {
    const accelerator = { resourceName: 'amd.com/gpu', devices: 3, memoryPerDevice: '48Gi' };
    await world.createService('three', { model: world.model('models/good/'), accelerator });
    const message = await expectRefused('three', 'Fits', 'ParallelismInvalid');
    expect(message).toContain('values that work: 1, 2, 4');
  });

  test('an accelerator without a runtime image is reported; with one of its own the service is planned on it', async () => {
    const accelerator = { resourceName: 'amd.com/gpu', devices: 2, memoryPerDevice: '48Gi' };
    await world.createService('gpu', {
      model: world.model('models/good/'),
      accelerator,
      sharedMemory: { sizeLimit: '8Gi' },
    });
    const { message } = await world.condition('gpu', 'Scheduled', 'False', 'RuntimeImageMissing');
    expect(message).toContain('--runtime-image-rocm');
    await world.patch(resources.llmServices, 'gpu', { spec: { engine: { image: 'example.org/rocm:1' } } });
    const deployment = await world.deployment('gpu');
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [{ image: 'example.org/rocm:1', resources: { limits: { 'amd.com/gpu': '2' } } }],
            volumes: expect.arrayContaining([
              expect.objectContaining({ emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } }),
            ]),
          },
        },
      },
    });
  });
});

describe('S3 that is away', () => {
  test('leaves a new service waiting, and it continues by itself', async () => {
    await world.s3.pause();
    await world.createService('patient', { model: world.model('models/good/'), ...oneGi });
    const { message } = await world.condition('patient', 'ModelResolved', 'Unknown', 'S3Unavailable');
    expect(message).toContain('ECONNREFUSED');
    await world.condition('patient', 'Stalled', 'False');
    expect(await world.get(resources.deployments, 'patient')).toBeNull();
    await world.s3.resume();
    await world.condition('patient', 'ModelResolved', 'True');
  });

  test('leaves pods alone and a serving service Ready, even for an operator that starts now', async () => {
    await world.deployment('patient');
    await world.makePod('patient', 'patient-1');
    await world.podServes('patient-1');
    await world.condition('patient', 'Ready', 'True');
    const before = await world.deployment('patient');
    await operator.stop();
    await world.s3.pause();
    operator = world.startOperator();
    await world.condition('patient', 'ModelResolved', 'Unknown', 'S3Unavailable');
    await world.condition('patient', 'Ready', 'True');
    expect((await world.deployment('patient')).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
    await world.s3.resume();
    await world.condition('patient', 'ModelResolved', 'True');
    expect((await world.deployment('patient')).metadata.generation).toBe(before.metadata.generation);
  });
});

test('a repaired checkpoint is taken up when the retry annotation changes', async () => {
  world.s3.put('models', 'no-tokenizer', llamaCheckpoint());
  await world.patch(resources.llmServices, 'no-tokenizer', {
    metadata: { annotations: { 'llmservice.dev/retry': '1' } },
  });
  await world.condition('no-tokenizer', 'ModelResolved', 'True');
  await world.deployment('no-tokenizer');
});

test('endpoints that never answer keep no other service waiting, and are reported', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const s3 = { endpoint: `http://127.0.0.1:${port}`, credentialsSecretRef: { name: 's3' } };
  // More than the operator has workers. Their reads last longer than what is waited for.
  for (let at = 0; at < 8; at += 1) {
    await world.createService(`silent-${at}`, { model: { uri: 's3://models/good/', s3 }, ...oneGi });
  }
  await world.patch(resources.llmServices, 'patient', { spec: { replicas: 2 } });
  await eventually(
    'two replicas',
    async () => (await world.deployment('patient')).spec?.replicas === 2,
    40_000,
  );
  const { message } = await world.condition('silent-0', 'ModelResolved', 'Unknown', 'S3Unavailable');
  expect(message).toContain('s3://models/good/ is still being read');
  // Its own endpoint was not asked yet.
  await world.condition('silent-7', 'ModelResolved', 'Unknown', 'Reading');
  silent.close();
});
