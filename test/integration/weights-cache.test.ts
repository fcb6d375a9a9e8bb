// Weights that pods of one node share: pulled once, started from without S3, taken over from who died, and removed when
// others need the room and nobody uses them.

import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { splitGguf } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { tokenizerJson } from '../../runtime/src/tokens/tokenizer.fixture.js';
import { modelsDir } from '../golden/golden-values.js';
import { eventually, settled } from '../processes.js';
import { enginePids, grammarPid } from '../process-tree.js';
import { CacheWorld } from './cache-world.js';
import { answer, MiB } from './loading-world.js';
import type { ReplicaProcess } from './replica-process.js';
import { earlyLayers, lateLayers } from './sharded-checkpoint.js';

jest.setTimeout(180_000);

let world: CacheWorld;
beforeAll(async () => {
  world = await CacheWorld.start();
}, 300_000);
beforeEach(() => world.begin());
afterEach(() => world.end());
afterAll(() => world.stop());

const hits = (replica: ReplicaProcess): Promise<number> =>
  replica.metric('llmservice_weights_cache_hits_total');
const misses = (replica: ReplicaProcess): Promise<number> =>
  replica.metric('llmservice_weights_cache_misses_total');

/** Its end, and with which reason. */
async function failureOf(replica: ReplicaProcess) {
  expect(await replica.exited()).toBe(1);
  return replica.terminationMessage;
}

/** Ready, and until then its entry is complete for others too. */
async function readyAndKept(replica: ReplicaProcess): Promise<void> {
  await replica.ready();
  await eventually('the entry to be complete', () =>
    world
      .entries()
      .every((name) =>
        readdirSync(join(world.folder, 'entries', name)).includes('.llmservice-manifest.json'),
      ),
  );
}

test('the second pod starts without S3, and answers the same', async () => {
  const first = await world.replica();
  await readyAndKept(first);
  expect(await misses(first)).toBe(1);
  await world.loading.s3.pause();
  const second = await world.replica({ pin: world.pinOf('sharded') });
  await second.ready();
  await world.loading.s3.resume();
  expect([await hits(second), await misses(second)]).toEqual([1, 0]);
  expect(await answer(second)).toBe(await world.loading.expectedAnswer());
});

test('all parts of a split GGUF file are kept, and the second pod starts by them without S3', async () => {
  const weights = readFileSync(`${modelsDir}llama-gguf-q8_0/model.gguf`);
  const parts = splitGguf(weights, 'm', 3);
  world.loading.s3.put('models', 'split', { ...parts, 'tokenizer.json': tokenizerJson() });
  const first = await world.replica({ prefix: 'split' });
  await readyAndKept(first);
  await world.loading.s3.pause();
  const second = await world.replica({ prefix: 'split', pin: world.pinOf('split') });
  await second.ready();
  await world.loading.s3.resume();
  expect([await hits(second), await misses(second)]).toEqual([1, 0]);
  expect(await answer(second)).toBe(await answer(first));
  const [entry = ''] = world.entries();
  expect(readdirSync(join(world.folder, 'entries', entry))).toEqual(
    expect.arrayContaining(Object.keys(parts)),
  );
});

test('the process that compiles grammars holds no file of the cache, which would take room when evicted', async () => {
  const replica = await world.replica();
  await readyAndKept(replica);
  const [engine = 0] = enginePids(replica.child.pid!);
  const openIn = (pid: number): string[] => {
    const folder = `/proc/${String(pid)}/fd`;
    const links = readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
    return links.filter((link) => link.startsWith(world.folder));
  };
  expect(openIn(engine)).not.toEqual([]);
  expect(openIn(grammarPid(engine))).toEqual([]);
});

test('a pod that does not know what to expect reads the listing, and reads nothing', async () => {
  await readyAndKept(await world.replica());
  const before = world.loading.gate.reads.length;
  const second = await world.replica({ pin: '0123456789abcdef' });
  await second.ready();
  expect(world.loading.gate.reads.slice(before)).toEqual([]);
  expect(await hits(second)).toBe(1);
});

test('of two that start at once one pulls; the other reports its progress, and each byte is read once', async () => {
  world.loading.gate.holds = world.loading.isLast;
  const replicas = [await world.replica(), await world.replica()];
  for (const replica of replicas) {
    await replica.eventually('its progress', async () => {
      const { load } = await replica.health();
      return load?.phase === 'pull' && (load.pulled?.bytesDone ?? 0) > 150 * MiB;
    });
  }
  world.loading.gate.release();
  for (const replica of replicas) await replica.ready();
  const reads = world.weightReads.map(({ file, begin }) => `${file} ${String(begin)}`);
  expect(new Set(reads).size).toBe(reads.length);
  const bytes = world.weightReads.reduce((sum, { begin, end }) => sum + end - begin, 0);
  expect(bytes).toBe(world.loading.bytesOf(earlyLayers) + world.loading.bytesOf(lateLayers));
  const counts = await Promise.all(replicas.map(async (each) => [await hits(each), await misses(each)]));
  expect(counts.sort()).toEqual([
    [0, 1],
    [1, 0],
  ]);
});

test('a pull whose process is killed is continued by who waits, from where it was', async () => {
  world.loading.gate.holds = world.loading.isLast;
  const first = await world.replica();
  await eventually('the last piece to be asked for', () => world.loading.gate.held === 1, 60_000);
  const second = await world.replica();
  await first.eventually('all pieces but the last', async () => {
    const { bytesDone, bytesTotal } = (await first.health()).load!.pulled!;
    return bytesDone === bytesTotal - world.loading.lastPieceBytes;
  });
  const progress = async (): Promise<number> => (await second.health()).load?.pulled?.bytesDone ?? 0;
  await second.eventually('the wait', async () => (await progress()) > 150 * MiB);
  await settled('what it gets of the pull', progress);
  const before = world.loading.gate.reads.length;
  first.child.kill('SIGKILL');
  await eventually('the takeover', () => world.loading.gate.held === 2, 60_000);
  world.loading.gate.release();
  await second.ready();
  const again = world.weightReads.filter((read) => world.loading.gate.reads.indexOf(read) >= before);
  expect(again.every(world.loading.isLast)).toBe(true);
  expect(await answer(second)).toBe(await world.loading.expectedAnswer());
});

test('a pull ahead, without a server, is what a pod then starts from', async () => {
  expect((await world.pullAhead()).code).toBe(0);
  const before = world.loading.gate.reads.length;
  const replica = await world.replica({ pin: world.pinOf('sharded') });
  await replica.ready();
  expect(await hits(replica)).toBe(1);
  expect(world.loading.gate.reads.slice(before)).toEqual([]);
});

test('a damaged file is pulled again, and it alone', async () => {
  const first = await world.replica();
  await readyAndKept(first);
  await first.stop();
  const path = join(world.folder, 'entries', world.entries()[0]!, earlyLayers);
  const bytes = readFileSync(path);
  bytes.writeUInt32LE(0xdeadbeef, bytes.length - 8);
  chmodSync(path, 0o644);
  writeFileSync(path, bytes);
  const before = world.loading.gate.reads.length;
  const second = await world.replica({ pin: world.pinOf('sharded') });
  await second.ready();
  const again = world.loading.gate.reads.slice(before).filter(({ begin, end }) => end - begin > MiB);
  expect(new Set(again.map(({ file }) => file))).toEqual(new Set([earlyLayers]));
  expect(second.log).toContain('files of the cache are damaged');
  expect(await answer(second)).toBe(await world.loading.expectedAnswer());
});

test('what nobody uses is evicted on a full disk, what is in use never is', async () => {
  world.loading.s3.put('models', 'other', world.loading.checkpoint.files);
  world.loading.s3.put('models', 'third', world.loading.checkpoint.files);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=420m', 'tmpfs', world.folder]);
  try {
    const used = await world.replica();
    await readyAndKept(used);
    const idle = await world.replica({ prefix: 'other' });
    await readyAndKept(idle);
    await idle.stop();
    const usedName = world.entries().find((name) => name.startsWith('sharded-'))!;
    utimesSync(join(world.folder, 'locks', `${usedName}.use`), 1, 1);

    const third = await world.replica({ prefix: 'third' });
    await readyAndKept(third);
    expect(world.entries().map((name) => name.slice(0, -17))).toEqual(['sharded', 'third']);
    expect(await third.metric('llmservice_weights_cache_evictions_total')).toBe(1);

    const refused = await failureOf(await world.replica({ prefix: 'other' }));
    expect(refused).toMatchObject({ reason: 'WeightsDiskFull' });
    expect(refused!.message).toMatch(/has \d+\.\d MiB free, but the checkpoint still needs 0\.17 GiB/);
    for (const replica of [used, third]) await replica.stop();
  } finally {
    execFileSync('umount', ['-l', world.folder]);
  }
});

test('a limit is kept although the disk has more, and reported with its figures', async () => {
  const used = await world.replica({ maxBytes: 300 * MiB });
  await readyAndKept(used);
  world.loading.s3.put('models', 'other', world.loading.checkpoint.files);
  const refused = await failureOf(await world.replica({ prefix: 'other', maxBytes: 300 * MiB }));
  expect(refused).toMatchObject({ reason: 'WeightsDiskFull', detail: { maxBytes: 300 * MiB } });
  expect(refused!.message).toMatch(
    /may hold 0\.29 GiB \(model\.cache\.maxSize\), and other pods use 0\.17 GiB of it/,
  );
  await used.stop();
  const next = await world.replica({ prefix: 'other', maxBytes: 300 * MiB });
  await next.ready();
  expect(world.entries().map((name) => name.slice(0, -17))).toEqual(['other']);
});

test('a folder that is not the runtime’s is reported with who would have to own it', async () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', world.folder]);
  try {
    const failure = await failureOf(await world.replica());
    expect([failure!.reason, failure!.message]).toEqual(['WeightsCacheNotWritable', expect.anything()]);
    expect(failure!.message).toContain('hostPath /cache');
    expect(failure!.message).toMatch(/user \d+, group \d+/);
  } finally {
    execFileSync('umount', [world.folder]);
  }
});
