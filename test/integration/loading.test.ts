// Weights that are loaded while they are still pulled: a gate before S3 holds back one piece, so that what happens
// before it arrives is no matter of speed.

import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { answer, LoadingWorld, MiB, pieceBytes } from './loading-world.js';
import { enginePids, peakBytes } from '../process-tree.js';
import type { S3Read } from './s3-gate.js';
import { earlyLayers, lateLayers } from './sharded-checkpoint.js';

jest.setTimeout(120_000);

let world: LoadingWorld;
beforeAll(async () => {
  world = await LoadingWorld.start();
}, 300_000);
afterEach(() => world.reset());
afterAll(() => world.stop());

describe.each([1, 2])('with %i ranks', (tensor) => {
  test('all but the last piece is in memory before that arrives, and nothing is served until it is there', async () => {
    const replica = await world.serveButForTheLast({ tensor });
    const health = await replica.health();
    expect(health).toMatchObject({ state: 'pulling', engine: { state: 'loading' }, load: { phase: 'pull' } });
    const { pulled, loaded } = health.load!;
    expect(loaded!.bytesTotal).toBeGreaterThan(loaded!.bytesDone);
    expect(await replica.metric('llmservice_pull_bytes_done')).toBe(pulled!.bytesDone);
    expect(pulled!.bytesDone).toBe(pulled!.bytesTotal - world.lastPieceBytes);
    // What is there may not all be in memory yet.
    await replica.eventually('health and metrics to show the same', async () => {
      const { load } = await replica.health();
      return (await replica.metric('llmservice_load_bytes_done')) === load!.loaded!.bytesDone;
    });
    expect((await replica.post('/v1/completions', { prompt: [1] })).status).toBe(503);

    world.gate.release();
    await replica.ready();
    const pids = enginePids(replica.child.pid!);
    expect(pids).toHaveLength(tensor);
    const { weightBytes } = (await replica.health()).engine!;
    for (const pid of pids) {
      const peak = peakBytes(pid);
      process.stdout.write(`peak ${String(peak >> 20)} MiB, weights ${String(weightBytes! >> 20)} MiB\n`);
      // A process of Node, one window of 16 MiB, and what a step needs.
      expect(peak).toBeLessThan(weightBytes! + 192 * MiB);
    }
    expect(await answer(replica)).toBe(await world.expectedAnswer(tensor));
  });
});

test('pieces are asked for in the order in which the engine reads them, each once', async () => {
  const replica = await world.serve();
  await replica.ready();
  const earlyBytes = world.bytesOf(earlyLayers);
  const pieces = world.gate.reads.filter(({ begin, end }) => end - begin > MiB);
  const order = pieces.map(({ file, begin }) => (file === earlyLayers ? 0 : earlyBytes) + begin);
  expect(new Set(order).size).toBe(order.length);
  const wanted = [earlyBytes, world.bytesOf(lateLayers)].map((bytes) => Math.ceil(bytes / pieceBytes));
  expect(order.length).toBe(wanted[0]! + wanted[1]!);
  // Those that are under way at once may overtake each other.
  const sorted = [...order].sort((a, b) => a - b);
  for (const [at, piece] of order.entries()) expect(Math.abs(sorted.indexOf(piece) - at)).toBeLessThan(8);
  expect(order.slice(0, 3).every((piece) => piece < earlyBytes)).toBe(true);
});

test('a file that arrives broken once is fetched again, and the engine that read it is replaced', async () => {
  const { gate } = world;
  for (const [name, digest] of world.checkpoint.sha256) gate.digests.set(name, digest);
  const broken = (read: S3Read): boolean => read.file === earlyLayers && read.begin === 2 * pieceBytes;
  gate.breaks = (read) => broken(read) && gate.reads.filter(broken).length === 1;
  const replica = await world.serve();
  await replica.ready();
  expect(gate.reads.filter(broken)).toHaveLength(2);
  expect(replica.log).toContain('the checkpoint is checked again');
  expect(await answer(replica)).toBe(await world.expectedAnswer());
});
