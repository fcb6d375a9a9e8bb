// Everything that can go wrong while weights are loaded that are still pulled: what the replica ends with, and that
// neither a process nor a name in /dev/shm is left behind.

import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFiles } from '../builders/files.js';
import { eventually } from '../processes.js';
import { answer, LoadingWorld, MiB } from './loading-world.js';
import { enginePids, isRunning } from '../process-tree.js';
import { ReplicaProcess } from './replica-process.js';
import { earlyLayers, lateLayers } from './sharded-checkpoint.js';

jest.setTimeout(120_000);

let world: LoadingWorld;
let weightsDir: string;
let seen: number[];
const sharedNames = readdirSync('/dev/shm');

const enginesGone = (): Promise<unknown> =>
  eventually('every engine to be gone', () => seen.filter(isRunning).length === 0);

beforeAll(async () => {
  world = await LoadingWorld.start();
  weightsDir = mkdtempSync(join(tmpdir(), 'llmservice-faults-'));
}, 300_000);
afterEach(async () => {
  await world.reset();
  await enginesGone();
  expect(readdirSync('/dev/shm')).toEqual(sharedNames);
  rmSync(weightsDir, { recursive: true, force: true });
});
afterAll(() => world.stop());

/** A replica whose engine waits for the last piece, in a folder that outlives it. */
async function waiting(
  tensor = 1,
  more: { noProgressTimeoutSeconds?: number } = {},
): Promise<ReplicaProcess> {
  const env = { LLMSERVICE_WEIGHTS_DIR: weightsDir };
  // Nobody waits for as long as this replica would for what it generates.
  const replica = await world.serveButForTheLast({ tensor, drainTimeoutSeconds: 600, env, ...more });
  seen = enginePids(replica.child.pid!);
  expect(seen).toHaveLength(tensor);
  return replica;
}

/** How long until the process ended, and with what. */
async function ended(what: string, replica: ReplicaProcess, since: number): Promise<number | null> {
  const code = await replica.exited();
  const took = (performance.now() - since).toFixed(0);
  process.stdout.write(
    `${what}: ended after ${took} ms with ${JSON.stringify(replica.terminationMessage)}\n`,
  );
  return code;
}

/** Bytes that the next start finds on disk. */
async function resumedFrom(): Promise<number> {
  world.gate.release();
  const before = world.gate.reads.length;
  const replica = await world.serve({ env: { LLMSERVICE_WEIGHTS_DIR: weightsDir } });
  await replica.ready();
  const again = world.gate.reads.slice(before).filter(({ begin, end }) => end - begin > MiB);
  expect(again.every(world.isLast)).toBe(true);
  expect(await answer(replica)).toBe(await world.expectedAnswer());
  const [line] = replica.log.split('\n').filter((each) => each.includes('pull began'));
  seen = enginePids(replica.child.pid!);
  return (JSON.parse(line!) as { bytesDone: number }).bytesDone;
}

test('S3 goes away and comes back: the engine waits, and nothing is fetched twice', async () => {
  const replica = await waiting();
  const before = world.gate.reads.length;
  await world.s3.pause();
  world.gate.release();
  const gone = performance.now();
  await replica.eventually(
    'the outage',
    async () => (await replica.health()).failure?.reason === 'S3Unavailable',
  );
  process.stdout.write(`S3 away: reported after ${(performance.now() - gone).toFixed(0)} ms\n`);
  expect(await replica.health()).toMatchObject({ state: 'pulling', engine: { state: 'loading' } });
  await world.s3.resume();
  await replica.ready();
  expect(enginePids(replica.child.pid!)).toEqual(seen);
  expect(world.gate.reads.slice(before).every(world.isLast)).toBe(true);
});

test('S3 that answers and sends nothing is reported as a stall, with the engine waiting', async () => {
  const replica = await waiting(1, { noProgressTimeoutSeconds: 15 });
  expect(await ended('S3 silent', replica, performance.now())).toBe(1);
  expect(replica.terminationMessage).toMatchObject({ reason: 'LoadStalled' });
});

test('a file whose digest is wrong is refused after the load, and nothing was served', async () => {
  world.gate.digests.set(lateLayers, 'ab'.repeat(32));
  const replica = await waiting();
  const states = new Set<string>();
  const looking = setInterval(() => {
    replica.health().then(
      ({ state }) => states.add(state),
      () => undefined,
    );
  }, 50);
  world.gate.release();
  try {
    expect(await ended('wrong digest', replica, performance.now())).toBe(1);
  } finally {
    clearInterval(looking);
  }
  expect(replica.terminationMessage).toMatchObject({ reason: 'CheckpointCorrupt' });
  expect(replica.terminationMessage!.message).toContain(lateLayers);
  expect(world.gate.reads.filter(world.isLast)).toHaveLength(2);
  expect(states).not.toContain('serving');
});

test('a disk that fills up ends the load with that reason; with room again, the rest is fetched', async () => {
  const filler = join(weightsDir, 'filler');
  execFileSync('mkdir', ['-p', weightsDir]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', weightsDir]);
  try {
    const replica = await waiting();
    expect(() => writeFileSync(filler, Buffer.alloc(200 * MiB))).toThrow('ENOSPC');
    world.gate.release();
    expect(await ended('disk full', replica, performance.now())).toBe(1);
    expect(replica.terminationMessage).toMatchObject({ reason: 'WeightsDiskFull' });
    rmSync(filler);
    expect(await resumedFrom()).toBeGreaterThan(150 * MiB);
  } finally {
    await world.reset();
    // An engine has its weights mapped until it has ended, and it ends after the server does.
    await enginesGone();
    execFileSync('umount', [weightsDir]);
  }
});

test('SIGTERM ends everything at once, with 0', async () => {
  const replica = await waiting(2);
  const asked = performance.now();
  replica.child.kill('SIGTERM');
  expect(await ended('SIGTERM', replica, asked)).toBe(0);
  expect(seen.filter(isRunning)).toEqual([]);
});

test('a server that is killed takes its ranks with it, and the next one continues where it was', async () => {
  const replica = await waiting(2);
  replica.child.kill('SIGKILL');
  await eventually('all ranks to be gone', () => seen.filter(isRunning).length === 0);
  expect(await resumedFrom()).toBeGreaterThan(150 * MiB);
});

test.each([0, 1])(
  'rank %i of 2 that is killed ends the replica; the next one continues where it was',
  async (rank) => {
    const replica = await waiting(2);
    process.kill(seen[rank]!, 'SIGKILL');
    expect(await ended(`SIGKILL of rank ${String(rank)}`, replica, performance.now())).toBe(1);
    expect(replica.terminationMessage).toMatchObject({ reason: 'EngineFault' });
    expect(await resumedFrom()).toBeGreaterThan(150 * MiB);
  },
);

test('weights that are changed or cut short once they are loaded change nothing', async () => {
  writeFiles(weightsDir, world.checkpoint.files);
  const replica = await ReplicaProcess.start({ uri: weightsDir });
  try {
    await replica.ready();
    seen = enginePids(replica.child.pid!);
    const before = await answer(replica);
    truncateSync(join(weightsDir, earlyLayers), MiB);
    writeFileSync(join(weightsDir, lateLayers), Buffer.alloc(MiB, 0x55));
    expect(await answer(replica)).toBe(before);
  } finally {
    await replica.stop();
  }
});
