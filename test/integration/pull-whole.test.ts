// What the init container brings for another engine: everything but weights in other forms, verified, whatever the
// architecture; and as the process that it is in a pod, with the config that the operator plans.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseTerminationMessage } from '@llmservice/crds';
import {
  engineConfigText,
  planConfigMap,
  planPullConfig,
} from '../../operator/src/plan/pods/engine-config.js';
import { wantedService } from '../../operator/src/resource/wanted-service.fixture.js';
import { pullWhole } from '../../runtime/src/weights/pull-whole.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, run } from '../processes.js';
import { failureOf, nobodys, PullWorld, Recorder, sha } from './pull-world.js';
import { s3Keys } from './s3-server.js';

let world: PullWorld;
beforeAll(async () => {
  world = await PullWorld.start();
}, 300_000);
beforeEach(() => world.begin());
afterEach(() => world.end());
afterAll(() => world.stop());
jest.setTimeout(120_000);

const shard = 'model-00002-of-00002.safetensors';

async function pull(prefix: string, recorder = new Recorder()): Promise<string> {
  const dir = join(world.weightsDir, 'checkpoint');
  await pullWhole({
    uri: `s3://models/${prefix}/`,
    dir,
    stores: { s3: world.access, ...nobodys },
    observer: recorder,
    sleep: (ms) => sleep(Math.min(ms, 200)),
    signal: new AbortController().signal,
  });
  return dir;
}

test('an architecture that our engine lacks is pulled with all that lies beside its weights', async () => {
  const files = {
    ...llamaCheckpoint({ model_type: 'gemma9', architectures: ['Gemma9ForCausalLM'] }),
    'tokenizer.model': 'spm',
    'preprocessor_config.json': '{}',
  };
  world.put('foreign', { ...files, 'pytorch_model.bin': 'no', 'original/consolidated.pth': 'no' });
  const dir = await pull('foreign');
  const pulled = readdirSync(dir).filter((name) => !name.startsWith('.'));
  expect(pulled.sort()).toEqual(Object.keys(files).sort());
  for (const [name, content] of Object.entries(files))
    expect(sha(readFileSync(join(dir, name)))).toBe(sha(content));
});

test('what is there already is not fetched again', async () => {
  world.put('again', llamaCheckpoint());
  await pull('again');
  const recorder = new Recorder();
  await pull('again', recorder);
  expect(recorder.bytes).toBe(0);
});

test('a shard that the index names and nobody uploaded is reported', async () => {
  const files = Object.entries(llamaCheckpoint()).filter(([name]) => name !== shard);
  world.put('short', Object.fromEntries(files));
  await expect(failureOf(pull('short'))).resolves.toMatchObject({ reason: 'CheckpointIncomplete' });
});

test('S3 that is away is waited for', async () => {
  world.put('patient', llamaCheckpoint());
  await world.s3.pause();
  const recorder = new Recorder();
  const pulled = pull('patient', recorder);
  await eventually('the wait', () => recorder.outages.length > 0);
  await world.s3.resume();
  await pulled;
});

describe('the init container', () => {
  const entry = fileURLToPath(new URL('../../runtime/dist/pull.js', import.meta.url));

  /** Its exit code and how it reported its failure, for a service on devices that the puller has not. */
  async function runFor(prefix: string) {
    const service = wantedService({
      model: { uri: `s3://models/${prefix}/`, s3: { endpoint: world.s3.endpoint } },
      accelerator: { resourceName: 'nvidia.com/gpu', devices: 2 },
      engine: { runtime: 'vllm' },
    });
    const { data } = planConfigMap(service, 'hash', engineConfigText(planPullConfig(service))) as never as {
      data: Record<string, string>;
    };
    const [config, terminationLog] = ['engine-config.json', 'termination-log'].map((name) =>
      join(world.weightsDir, name),
    );
    writeFileSync(config!, data['engine-config.json']!);
    const { code } = await run(process.execPath, [entry], '', {
      LLMSERVICE_ENGINE_CONFIG: config,
      LLMSERVICE_WEIGHTS_DIR: world.weightsDir,
      LLMSERVICE_TERMINATION_LOG: terminationLog,
      AWS_ACCESS_KEY_ID: s3Keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey,
    });
    return { code, failure: () => parseTerminationMessage(readFileSync(terminationLog!, 'utf8')) };
  }

  test('brings the checkpoint to where vLLM looks for it', async () => {
    world.put('process', llamaCheckpoint({ model_type: 'gemma9' }));
    expect((await runFor('process')).code).toBe(0);
    expect(readdirSync(join(world.weightsDir, 'checkpoint'))).toContain(shard);
  });

  test('ends with a reason that the operator reads', async () => {
    const { code, failure } = await runFor('nothing-there');
    expect(code).toBe(1);
    expect(failure()).toMatchObject({ reason: 'ModelNotFound' });
  });
});
