// A tenant whose pods write to its namespace's folder on a node leaves links, pipes and other files there, for the
// container that prepares the folder as root and for the tenant's own pods that serve. A neighbour streams alongside it.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CacheWorld } from '../integration/cache-world.js';
import { answer } from '../integration/loading-world.js';
import { demoCheckpoint, ReplicaProcess } from '../integration/replica-process.js';
import { earlyLayers } from '../integration/sharded-checkpoint.js';
import { eventually, run } from '../processes.js';
import { Witness } from './witness.js';

jest.setTimeout(300_000);
const secretText = 'sk-of-another-volume-of-the-pod';

let world: CacheWorld;
let neighbour: ReplicaProcess;
let witness: Witness;
let outside: string;
beforeAll(async () => {
  world = await CacheWorld.start();
  neighbour = await ReplicaProcess.start({ uri: demoCheckpoint });
  await neighbour.ready();
}, 300_000);
afterAll(async () => {
  await neighbour.stop();
  await world.stop();
});
beforeEach(async () => {
  world.begin();
  outside = mkdtempSync(join(tmpdir(), 'llmservice-outside-'));
  writeFileSync(join(outside, 'secret'), secretText);
  witness = await Witness.begin({ port: Number(new URL(neighbour.url).port) });
});
afterEach(async () => {
  await witness.end();
  expect(witness.faults).toEqual([]);
  await world.end();
  rmSync(outside, { recursive: true });
});

const isUnharmed = (): boolean =>
  readdirSync(outside).join() === 'secret' &&
  readFileSync(join(outside, 'secret'), 'utf8') === secretText &&
  statSync(outside).uid === 0;

const inFolder = (...path: string[]): string => join(world.folder, ...path);
const replace = (path: string, plant: (path: string) => void): void => {
  rmSync(path, { recursive: true, force: true });
  plant(path);
};
const link = (path: string): void => symlinkSync(outside, path);

describe('the container that prepares the folder of a node', () => {
  const program = fileURLToPath(new URL('../../operator/dist/node-folder/main.js', import.meta.url));
  /** As its container does: root with one capability. */
  const prepare = (namespace: string) => {
    const capabilities = ['--bounding-set=-all,+chown', '--inh-caps=-all,+chown', '--no-new-privs'];
    const args = [process.execPath, program, world.folder, `namespaces/${namespace}`, '65532'];
    return run('setpriv', [...capabilities, ...args], '', {});
  };

  test('gives a namespace its folder, and follows no link of another', async () => {
    expect((await prepare('tenant')).code).toBe(0);
    expect(statSync(inFolder('namespaces/tenant')).uid).toBe(65532);
    // What a tenant's pods may do: they see this folder alone, as this user.
    link(inFolder('namespaces/tenant/link'));
    expect((await prepare('tenant')).code).toBe(0);
    expect((await prepare('tenant/link')).stdout).toContain('WeightsCacheUnsafe');
    symlinkSync('tenant', inFolder('namespaces/other'));
    expect((await prepare('other')).stdout).toContain('WeightsCacheUnsafe');
    expect((await prepare('third')).code).toBe(0);
    expect(isUnharmed()).toBe(true);
  });

  test('gives nothing away where an earlier release left the whole folder to the tenants', async () => {
    chownSync(world.folder, 65532, 65532);
    link(inFolder('namespaces'));
    expect((await prepare('tenant')).stdout).toContain('WeightsCacheUnsafe');
    expect(isUnharmed()).toBe(true);
    expect(statSync(world.folder).uid).toBe(0);
  });
});

describe('a pod that serves from the folder', () => {
  test.each<[string, string]>([
    ['all entries', 'entries'],
    ['all locks', 'locks'],
    ['an entry', 'entry'],
    ['a lock', 'lock'],
  ])('ends, with the name, where a link is in the place of %s', async (_, what) => {
    expect((await world.pullAhead()).code).toBe(0);
    const [name = ''] = world.entries();
    const path = { entry: `entries/${name}`, lock: `locks/${name}.use` }[what] ?? what;
    replace(inFolder(path), link);
    const replica = await world.replica({ pin: name.slice(-16) });
    expect(await replica.exited()).toBe(1);
    expect(replica.terminationMessage).toMatchObject({ reason: 'WeightsCacheUnsafe' });
    expect(replica.terminationMessage!.message).toContain(inFolder(path));
    expect(isUnharmed()).toBe(true);
  });

  test('pulls again what is a link, reveals nothing of what it leads to, and waits for no pipe', async () => {
    expect((await world.pullAhead()).code).toBe(0);
    const [name = ''] = world.entries();
    const entry = (file: string): string => inFolder('entries', name, file);
    for (const file of ['config.json', 'tokenizer.json', earlyLayers]) {
      replace(entry(file), (path) => symlinkSync(join(outside, 'secret'), path));
    }
    const linked = await world.replica({ pin: name.slice(-16) });
    await linked.ready();
    expect(await answer(linked)).toBe(await world.loading.expectedAnswer());
    expect(linked.log).toContain('files of the cache are damaged');
    expect(linked.log).not.toContain(secretText);
    expect(lstatSync(entry('config.json')).isFile()).toBe(true);
    await linked.stop();

    for (const file of ['.llmservice-manifest.json', '.llmservice-pull.json']) {
      replace(entry(file), (path) => void execFileSync('mkfifo', [path]));
    }
    const piped = await world.replica({ pin: name.slice(-16) });
    await piped.ready();
    expect(await answer(piped)).toBe(await world.loading.expectedAnswer());
    expect(isUnharmed()).toBe(true);
  });

  test('serves what it verified where files are swapped while ranks load them', async () => {
    world.loading.gate.holds = world.loading.isLast;
    const replica = await world.replica({ tensor: 2 });
    const path = await eventually('the entry', () => {
      const [name] = existsSync(inFolder('entries')) ? world.entries() : [];
      const file = name === undefined ? null : inFolder('entries', name, earlyLayers);
      return Promise.resolve(file !== null && existsSync(file) ? file : null);
    });
    await replica.eventually('ranks that load', async () => {
      const { load } = await replica.health();
      return (load?.loaded?.bytesDone ?? 0) > 0;
    });
    const forged = join(outside, 'forged');
    const bytes = readFileSync(path);
    writeFileSync(forged, bytes.fill(0x3f, bytes.length - 4096));
    renameSync(path, `${path}.kept`);
    execFileSync('cp', [forged, path]);
    rmSync(forged);
    world.loading.gate.release();
    await replica.ready();
    expect(replica.log).toContain('the checkpoint is checked again');
    expect(await answer(replica)).toBe(await world.loading.expectedAnswer(2));
    expect(isUnharmed()).toBe(true);
  });
});
