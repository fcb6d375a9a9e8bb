// Adapters and draft models on their way from S3: a disk that fills up, and a server that is killed, cost the rest of the pull and
// nothing else.

import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { obtainAdapter, type ObtainedAdapter } from '../../runtime/src/adapters/obtain-adapter.js';
import { lastHiddenDrafter } from '../builders/eagle3-drafter.js';
import { readFiles } from '../builders/files.js';
import { eventually } from '../processes.js';
import { failureOf, nobodys, PullWorld, Recorder, sha } from './pull-world.js';
import { randomAdapter } from './random-adapter.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { S3Gate } from './s3-gate.js';
import { s3Environment } from './s3-server.js';

jest.setTimeout(120_000);

const weights = 'adapter_model.safetensors';
let world: PullWorld;
let adapter: ReturnType<typeof randomAdapter>;

beforeAll(async () => {
  const { shape } = await openCheckpoint(demoCheckpoint);
  adapter = randomAdapter(shape, { rank: 8, seed: 1 });
  world = await PullWorld.start();
  world.put('base', readFiles(demoCheckpoint));
  world.put('adapter', adapter);
  world.put('drafts', lastHiddenDrafter(demoCheckpoint));
});
afterAll(() => world.stop());
beforeEach(() => world.begin());
afterEach(() => world.end());

/** On a disk of its own, and how it is filled and emptied again. */
async function onSmallDisk(use: (fill: () => void, empty: () => void) => Promise<void>): Promise<void> {
  const filler = join(world.weightsDir, 'filler');
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', world.weightsDir]);
  try {
    const fill = (): void => {
      if (!existsSync(filler)) expect(() => writeFileSync(filler, Buffer.alloc(2 ** 26))).toThrow('ENOSPC');
    };
    await use(fill, () => rmSync(filler));
  } finally {
    execFileSync('umount', [world.weightsDir]);
  }
}

function obtain(observer: Recorder): Promise<ObtainedAdapter> {
  const stores = { s3: world.access, ...nobodys };
  const settings = { weightsDir: world.weightsDir, cache: null, stores, allowedUris: [] };
  const sleep = (): Promise<void> => Promise.resolve();
  const { signal } = new AbortController();
  return obtainAdapter('s3://models/adapter/', { ...settings, observer, sleep, signal }, (read) => read());
}

test('an adapter on a disk that fills up leaves nothing there, and comes once there is room', async () => {
  await onSmallDisk(async (fill, empty) => {
    const filling = new Recorder();
    filling.begin = fill;
    const failure = await failureOf(obtain(filling).then(({ dir }) => dir));
    expect([failure.reason, failure.message]).toEqual([
      'WeightsDiskFull',
      expect.stringContaining('still needs'),
    ]);
    empty();
    expect(pulledAdapters()).toEqual([]);
    const { dir, release } = await obtain(new Recorder());
    expect(sha(readFileSync(join(dir, weights)))).toBe(sha(adapter[weights]));
    release();
    expect(pulledAdapters()).toEqual([]);
  });
});

const adaptersOf = (pid: number | undefined): string => `llmservice-adapters-${hostname()}-${String(pid)}`;
const pulledAdapters = (): string[] => readdirSync(join(world.weightsDir, adaptersOf(process.pid)));

test('a draft model on a disk that fills up is reported before the model is pulled, and comes once there is room', async () => {
  const head = { method: 'eagle3', uri: 's3://models/drafts/' } as const;
  await onSmallDisk(async (fill, empty) => {
    const filling = new Recorder();
    filling.begin = fill;
    const failure = await failureOf(world.pull('base', { head }, filling));
    expect(failure.reason).toBe('WeightsDiskFull');
    expect(readdirSync(world.weightsDir).filter((name) => name.startsWith('models-base'))).toEqual([]);
    empty();
    const dir = await world.pull('base', { head });
    expect(readdirSync(dir)).toContain('config.json');
    const [drafts = ''] = readdirSync(world.weightsDir).filter((name) => name.endsWith('-eagle3'));
    const stored = readFiles(join(world.weightsDir, drafts))['model.safetensors']!;
    expect(sha(stored)).toBe(sha(lastHiddenDrafter(demoCheckpoint)['model.safetensors']!));
  });
});

test('servers that are killed while they pull a draft model and an adapter leave the next one all it needs', async () => {
  const gate = await S3Gate.start(world.s3.endpoint);
  const env = {
    ...s3Environment,
    ...{ LLMSERVICE_WEIGHTS_DIR: world.weightsDir, LLMSERVICE_ADAPTERS: 'own=s3://models/adapter/' },
  };
  const speculative = { method: 'eagle3', tokens: 3, uri: 's3://models/drafts/' };
  const start = (): Promise<ReplicaProcess> =>
    ReplicaProcess.start({ uri: demoCheckpoint, endpoint: gate.endpoint, engine: { speculative }, env });
  try {
    for (const [file, folder] of [
      ['model.safetensors', /-eagle3$/],
      [weights, ofAdapters],
    ] as const) {
      // Headers are read before there is a folder.
      gate.holds = (read) => read.file === file && pulledTo(folder).length > 0;
      const replica = await start();
      try {
        await eventually(`${file} to be held back`, () => gate.held > 0);
      } finally {
        replica.child.kill('SIGKILL');
      }
      await replica.exited();
      gate.release();
    }
    expect(pulledTo(ofAdapters)).toHaveLength(1);
    const replica = await start();
    try {
      await replica.ready();
      const [base, own] = [await say(replica, 'base'), await say(replica, 'own')];
      expect(own).not.toBe(base);
      expect(await replica.metric('vllm:spec_decode_num_draft_tokens_total')).toBeGreaterThan(0);
      expect(pulledTo(ofAdapters)).toEqual([adaptersOf(replica.child.pid)]);
    } finally {
      await replica.stop();
    }
  } finally {
    gate.stop();
  }
});

const ofAdapters = /^llmservice-adapters-/;
const pulledTo = (folder: RegExp): string[] =>
  readdirSync(world.weightsDir).filter((name) => folder.test(name));

async function say(replica: ReplicaProcess, model: string): Promise<string> {
  const [first = ''] = ((await (await fetch(`${replica.url}/v1/models`)).json()) as { models: string[] })
    .models;
  const body = { model: model === 'base' ? first : model, prompt: 'The capital of France is a city that' };
  const response = await replica.post('/v1/completions', {
    ...body,
    ...{ max_tokens: 12, temperature: 0, ignore_eos: true },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { choices: { text: string }[] }).choices[0]!.text;
}
