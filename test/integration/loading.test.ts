// Weights that are loaded while they are still pulled: a gate before S3 holds back one piece, so that what happens
// before it arrives is no matter of speed.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enginePids, isRunning, peakBytes } from './process-tree.js';
import { ReplicaProcess } from './replica-process.js';
import { S3Gate, type S3Read } from './s3-gate.js';
import { S3Server, s3Keys } from './s3-server.js';
import { earlyLayers, lateLayers, shardedCheckpoint, writeFiles } from './sharded-checkpoint.js';

jest.setTimeout(120_000);

const { files, sha256 } = shardedCheckpoint();
const pieceBytes = 16 * 1024 * 1024;
const [lateBytes, earlyBytes] = [files[lateLayers]!.byteLength, files[earlyLayers]!.byteLength];
const MiB = 2 ** 20;

/** The piece that the engine reads last: the end of the last layer, and the final norm. */
const isLast = ({ file, end }: S3Read): boolean => file === lateLayers && end === lateBytes;

let folder: string;
let s3: S3Server;
let gate: S3Gate;
let replica: ReplicaProcess | null = null;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'llmservice-loading-'));
  writeFiles(folder, files);
  s3 = await S3Server.start();
  s3.put('models', 'sharded', files);
}, 300_000);
afterAll(async () => {
  await s3.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  gate = await S3Gate.start(s3.endpoint);
});
afterEach(async () => {
  await replica?.stop();
  gate.stop();
});

async function serve(options: { tensor?: number; env?: NodeJS.ProcessEnv } = {}): Promise<ReplicaProcess> {
  const keys = { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey };
  const env = { ...keys, ...options.env };
  replica = await ReplicaProcess.start({
    uri: 's3://models/sharded/',
    endpoint: gate.endpoint,
    ...options,
    env,
  });
  return replica;
}

/** Until the last piece alone is missing and the engine can do nothing more without it. */
async function loadedButForTheLast(serving: ReplicaProcess, tensor = 1): Promise<number> {
  // Stored bytes of all layers but the last, of which rank 0 reads its share; what precedes the missing piece of that
  // one may be in memory too.
  const enough = ((earlyBytes + lateBytes) * (5 / 6) - 4 * MiB) / tensor;
  return serving.eventually('the engine to load what is there', async () => {
    const { loaded } = (await serving.health()).load ?? { loaded: null };
    return gate.held === 1 && loaded !== null && loaded.bytesDone > enough ? loaded.bytesDone : null;
  });
}

async function answer(serving: ReplicaProcess): Promise<string> {
  const asked = { prompt: [1, 2, 3, 4, 5], max_tokens: 24, temperature: 0, logprobs: 1 };
  const response = await serving.post('/v1/completions', asked);
  expect(response.status).toBe(200);
  const { choices } = (await response.json()) as { choices: { logprobs: { token_logprobs: number[] } }[] };
  return JSON.stringify(choices[0]!.logprobs.token_logprobs);
}

/** What a replica answers that loaded the same files from a folder. */
async function expectedAnswer(tensor = 1): Promise<string> {
  const plain = await ReplicaProcess.start({ uri: folder, tensor });
  try {
    await plain.ready();
    return await answer(plain);
  } finally {
    await plain.stop();
  }
}

describe.each([1, 2])('with %i ranks', (tensor) => {
  test('all but the last piece is in memory before that arrives, and nothing is served until it is there', async () => {
    gate.holds = isLast;
    const serving = await serve({ tensor });
    const loaded = await loadedButForTheLast(serving, tensor);
    const health = await serving.health();
    expect(health).toMatchObject({ state: 'pulling', engine: { state: 'loading' }, load: { phase: 'pull' } });
    expect(health.load!.pulled!.bytesDone).toBe(health.load!.pulled!.bytesTotal - (lateBytes % pieceBytes));
    expect(health.load!.loaded!.bytesTotal).toBeGreaterThan(loaded);
    expect((await serving.post('/v1/completions', { prompt: [1] })).status).toBe(503);

    gate.release();
    await serving.ready();
    const pids = enginePids(serving.child.pid!);
    expect(pids).toHaveLength(tensor);
    const { weightBytes } = (await serving.health()).engine!;
    for (const pid of pids) {
      process.stdout.write(
        `peak ${String(peakBytes(pid) >> 20)} MiB, weights ${String(weightBytes! >> 20)} MiB\n`,
      );
      // A process of Node, one window of 16 MiB, and what a step needs.
      expect(peakBytes(pid)).toBeLessThan(weightBytes! + 192 * MiB);
    }
    expect(await answer(serving)).toBe(await expectedAnswer(tensor));
  });
});

test('pieces are asked for in the order in which the engine reads them, each once', async () => {
  const serving = await serve();
  await serving.ready();
  const pieces = gate.reads.filter(
    ({ file, begin, end }) => files[file]!.byteLength > MiB && end - begin > MiB,
  );
  const order = pieces.map(({ file, begin }) => (file === earlyLayers ? 0 : earlyBytes) + begin);
  expect(new Set(order).size).toBe(order.length);
  expect(order.length).toBe(Math.ceil(earlyBytes / pieceBytes) + Math.ceil(lateBytes / pieceBytes));
  // Those that are under way at once may overtake each other.
  const sorted = [...order].sort((a, b) => a - b);
  for (const [at, piece] of order.entries()) expect(Math.abs(sorted.indexOf(piece) - at)).toBeLessThan(8);
  expect(order.slice(0, 3).every((piece) => piece < earlyBytes)).toBe(true);
});

test('S3 goes away in the midst and comes back: the engine waits, and nothing is fetched twice', async () => {
  gate.holds = isLast;
  const serving = await serve();
  await loadedButForTheLast(serving);
  const [pid] = enginePids(serving.child.pid!);
  const before = gate.reads.length;
  await s3.pause();
  gate.release();
  await serving.eventually(
    'the outage to be told',
    async () => (await serving.health()).failure?.reason === 'S3Unavailable',
  );
  expect(await serving.health()).toMatchObject({ state: 'pulling', engine: { state: 'loading' } });
  await s3.resume();
  await serving.ready();
  expect(enginePids(serving.child.pid!)).toEqual([pid]);
  expect(gate.reads.slice(before).every(isLast)).toBe(true);
});

test('a file that arrives broken once is fetched again, and the engine that read it is replaced', async () => {
  for (const [name, digest] of sha256) gate.digests.set(name, digest);
  const broken = (read: S3Read): boolean => read.file === earlyLayers && read.begin === 2 * pieceBytes;
  gate.breaks = (read) => broken(read) && gate.reads.filter(broken).length === 1;
  const serving = await serve();
  await serving.ready();
  expect(gate.reads.filter(broken)).toHaveLength(2);
  expect(serving.log).toContain('the checkpoint is looked at again');
  expect(await answer(serving)).toBe(await expectedAnswer());
});

test('a file whose digest is wrong is refused after the load, and nothing was served', async () => {
  gate.digests.set(lateLayers, 'ab'.repeat(32));
  const serving = await serve();
  const seen = new Set<number>();
  const states = new Set<string>();
  const looking = setInterval(() => {
    if (serving.child.exitCode !== null) return;
    for (const pid of enginePids(serving.child.pid!)) seen.add(pid);
    serving.health().then(
      ({ state }) => states.add(state),
      () => undefined,
    );
  }, 50);
  try {
    expect(await serving.exited()).toBe(1);
  } finally {
    clearInterval(looking);
  }
  expect(serving.terminationMessage).toMatchObject({ reason: 'CheckpointCorrupt' });
  expect(serving.terminationMessage!.message).toContain(lateLayers);
  expect(gate.reads.filter(isLast)).toHaveLength(2);
  expect(states).not.toContain('serving');
  expect(seen.size).toBeGreaterThan(0);
  expect([...seen].filter(isRunning)).toEqual([]);
});
