import { adapterListDigest, adapterListText } from '@llmservice/crds';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedAdapter } from '../config/adapter-settings.js';
import { realTimers } from '../intervals.fixture.js';
import { makeLogger } from '../log/logger.js';
import { AdapterFolder } from './adapter-folder.js';
import type { Obtain } from './adapter-service.js';

const room = 2;
let dir: string;
let folder: AdapterFolder;
let lateMs: number;
/** By name: what the service has, and how it leaves. */
let loaded: Map<string, string>;
let calls: string[];
let refused: Set<string>;
let isServing: boolean;

const service = {
  get isServing() {
    return isServing;
  },
  uriOf: (name: string) => loaded.get(name) ?? null,
  load: async ({ name, uri }: NamedAdapter, obtain: Obtain): Promise<void> => {
    calls.push(`load ${name} ${uri}`);
    await sleep(1);
    if (uri === unreachable) await obtain(uri);
    if (refused.has(uri)) throw new Error(`${uri} is bad`);
    if (loaded.size === room) throw new Error('no room');
    loaded.set(name, uri);
  },
  replace: async ({ name, uri }: NamedAdapter): Promise<void> => {
    calls.push(`replace ${name} ${uri}`);
    await sleep(1);
    if (refused.has(uri)) throw new Error(`${uri} is bad`);
    loaded.set(name, uri);
  },
  unload: async (name: string): Promise<void> => {
    calls.push(`unload ${name}`);
    loaded.delete(name);
    await sleep(1);
  },
};

const write = (adapters: readonly NamedAdapter[]): void =>
  writeFileSync(join(dir, 'adapters.json'), adapterListText(adapters));
const a = { name: 'a', uri: 's3://b/a/' };
const b = { name: 'b', uri: 's3://b/b/' };
const unreachable = 's3://away/';

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await look();
}

/** A second passes, and what is begun then ends. */
async function look(): Promise<void> {
  jest.advanceTimersByTime(1_000);
  await sleep(20);
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: realTimers });
  dir = mkdtempSync(join(tmpdir(), 'llmservice-adapter-folder-'));
  [lateMs, loaded, calls, refused, isServing] = [0, new Map(), [], new Set(), true];
  const obtain: Obtain = (_, signal) =>
    once(signal!, 'abort').then(() => Promise.reject(new Error('given up')));
  const now = () => lateMs;
  folder = new AdapterFolder({ dir, service, obtain, logger: makeLogger('error'), now });
});
afterEach(() => {
  folder.close();
  jest.useRealTimers();
  rmSync(dir, { recursive: true });
});

test('those of the list are loaded once a model serves, and reported by their places', async () => {
  isServing = false;
  write([a, b]);
  await folder.open();
  expect(calls).toEqual([]);
  isServing = true;
  refused.add(b.uri);
  await folder.settle(50_000);
  expect(folder.report).toEqual({
    list: adapterListDigest(adapterListText([a, b])),
    loaded: [0],
    failed: [1],
  });
});

describe('a list that changes', () => {
  beforeEach(async () => {
    write([a]);
    await folder.open();
    await folder.settle(50_000);
  });

  test('is followed: what is new is loaded, what went is unloaded, another URI replaces what is there', async () => {
    write([{ ...a, uri: 's3://b/a2/' }, b]);
    await until(() => folder.report.loaded.length === 2);
    expect(calls).toEqual(['load a s3://b/a/', 'replace a s3://b/a2/', 'load b s3://b/b/']);
    write([]);
    await until(() => loaded.size === 0);
    expect(folder.report.loaded).toEqual([]);
  });

  test('keeps what is there while another URI cannot be loaded', async () => {
    refused.add('s3://b/a2/');
    write([{ ...a, uri: 's3://b/a2/' }]);
    await until(() => folder.report.failed.length === 1);
    expect([...loaded]).toEqual([['a', 's3://b/a/']]);
    expect(calls).not.toContain('unload a');
    write([]);
    await until(() => loaded.size === 0);
  });

  test('and is broken or missing changes nothing', async () => {
    const before = folder.report;
    for (const text of ['[', '{}', '[{"name": "x"}]', '[{"name": "a b", "uri": "/x"}]']) {
      writeFileSync(join(dir, 'adapters.json'), text);
      await look();
      expect([folder.report, [...loaded.keys()]]).toEqual([before, ['a']]);
    }
    rmSync(join(dir, 'adapters.json'));
    await look();
    expect([folder.report, [...loaded.keys()]]).toEqual([before, ['a']]);
  });

  test('gives up a load that waits for another URI', async () => {
    write([a, { ...b, uri: unreachable }]);
    await until(() => calls.includes(`load b ${unreachable}`));
    write([a, b]);
    await until(() => loaded.get('b') === b.uri);
    expect(folder.report).toMatchObject({ loaded: [0, 1], failed: [] });
  });

  test('leaves those that administrators loaded', async () => {
    loaded.set('theirs', '/x');
    write([]);
    await until(() => !loaded.has('a'));
    expect([...loaded.keys()]).toEqual(['theirs']);
  });
});

test('one that fails is tried again later, one that found no room once there is some', async () => {
  refused.add(a.uri);
  loaded.set('first', '/1').set('second', '/2');
  write([a, b]);
  await folder.open();
  await folder.settle(50_000);
  expect(folder.report.failed).toEqual([0, 1]);
  refused.clear();
  await service.unload('first');
  await service.unload('second');
  lateMs = 2_000;
  await until(() => folder.report.loaded.length === 2);
});

test('one that is gone, as with its engine, is loaded again', async () => {
  write([a]);
  await folder.open();
  await folder.settle(50_000);
  loaded.clear();
  await until(() => loaded.has('a'));
  expect(folder.report.failed).toEqual([]);
});
