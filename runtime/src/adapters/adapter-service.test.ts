import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { EngineAdapters } from '../engine/engine-adapters.js';
import type { ServerMessage } from '../engine/protocol.js';
import { makeLogger } from '../log/logger.js';
import { AdapterService } from './adapter-service.js';
import { ServedAdapters } from './served-adapters.js';

let served: ServedAdapters;
let sent: ServerMessage[];
let engine: EngineAdapters;
let service: AdapterService;
let released: string[];

const obtain = (uri: string) =>
  Promise.resolve({ dir: `/there${uri}`, release: () => void released.push(uri) });
/** The engine's answer to the load that it was asked for last. */
async function answer(failure: Parameters<EngineAdapters['ended']>[1]): Promise<void> {
  // The folder is obtained first.
  await new Promise((resolve) => setImmediate(resolve));
  const last = sent.at(-1);
  if (last?.type !== 'loadAdapter') throw new Error('no load was asked for');
  engine.ended(last.adapter.number, failure);
}

beforeEach(async () => {
  served = new ServedAdapters();
  sent = [];
  released = [];
  engine = new EngineAdapters((message) => void sent.push(message));
  service = new AdapterService({
    configured: [{ name: 'first', uri: '/first' }],
    room: { max: 2, maxRank: 16 },
    served,
    taken: ['model'],
    logger: makeLogger('error'),
  });
  await service.prepare(engine, '/model', obtain);
});

test('one that was made for another repository than the model is of is served, and logged', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'llmservice-other-base-'));
  writeFileSync(join(dir, 'adapter_config.json'), '{"base_model_name_or_path":"o/other"}');
  const logger = makeLogger('error');
  const warned = new Promise((resolve) => {
    jest.spyOn(logger, 'warn').mockImplementation((...said: unknown[]) => {
      resolve(said);
      return logger;
    });
  });
  const [configured, room] = [[{ name: 'first', uri: '/first' }], { max: 1, maxRank: 16 }];
  const own = new AdapterService({ configured, room, served, taken: [], logger });
  await own.prepare(engine, 'hf://o/base', () => Promise.resolve({ dir, release: () => undefined }));
  const fields = { name: 'first', base: 'o/other', model: 'hf://o/base' };
  expect(await warned).toEqual(['adapter was made for another base', fields]);
  rmSync(dir, { recursive: true });
});

test('those of the settings are kept for the engine, and served once it is ready', () => {
  expect(engine.kept).toEqual([{ number: 1, name: 'first', dir: '/there/first' }]);
  expect(served.all).toEqual([]);
  service.startServing(engine);
  expect(served.all).toMatchObject([{ name: 'first', uri: '/first', used: { number: 1 } }]);
});

describe('while a model serves', () => {
  beforeEach(() => {
    engine.ready();
    service.startServing(engine);
  });

  test('one is loaded, kept for the next process, and unloaded once it is free', async () => {
    const loading = service.load({ name: 'second', uri: '/second' }, obtain);
    await answer(null);
    await loading;
    expect(engine.kept).toHaveLength(2);
    const use = served.enter('second');
    const unloading = service.unload('second');
    expect(served.has('second')).toBe(false);
    expect(sent.at(-1)?.type).toBe('loadAdapter');
    use?.leave();
    await unloading;
    expect(sent.at(-1)).toEqual({ type: 'unloadAdapter', number: 2 });
    expect(engine.kept).toHaveLength(1);
    expect(released).toEqual(['/second']);
  });

  describe('another URI under a name', () => {
    const replace = (): Promise<void> => service.replace({ name: 'first', uri: '/other' }, obtain);

    test('is served once it is loaded, and what was there serves until then', async () => {
      const use = served.enter('first');
      const replacing = replace();
      await new Promise((resolve) => setImmediate(resolve));
      expect(served.get('first')).toMatchObject({ uri: '/first' });
      expect([service.uriOf('first'), sent.at(-1)]).toMatchObject(['/first', { adapter: { number: 2 } }]);
      await answer(null);
      await replacing;
      expect(served.get('first')).toMatchObject({ uri: '/other', used: { number: 2 } });
      expect([service.uriOf('first'), released]).toEqual(['/other', []]);
      use?.leave();
      await new Promise((resolve) => setImmediate(resolve));
      expect([sent.at(-1), released]).toEqual([{ type: 'unloadAdapter', number: 1 }, ['/first']]);
      expect(engine.kept).toMatchObject([{ number: 2, dir: '/there/other' }]);
    });

    test('that fails changes nothing', async () => {
      const replacing = replace();
      await answer({ reason: 'InvalidEngineConfig', message: 'rank' });
      await expect(replacing).rejects.toThrow('rank');
      expect([served.get('first')?.uri, service.uriOf('first'), released]).toEqual([
        '/first',
        '/first',
        ['/other'],
      ]);
      expect(served.reserve('third', 2)?.number).toBe(2);
    });

    test('takes the place of what was there, where there is no room for both, once its files have come', async () => {
      const loading = service.load({ name: 'second', uri: '/second' }, obtain);
      await answer(null);
      await loading;
      let come = (): void => undefined;
      const files = new Promise<void>((resolve) => (come = resolve));
      const replacing = service.replace({ name: 'first', uri: '/other' }, (uri) =>
        files.then(() => obtain(uri)),
      );
      await new Promise((resolve) => setImmediate(resolve));
      expect(served.get('first')?.uri).toBe('/first');
      come();
      await answer(null);
      await replacing;
      expect(sent.slice(-2)).toMatchObject([
        { type: 'unloadAdapter', number: 1 },
        { adapter: { number: 1 } },
      ]);
      expect([served.get('first')?.uri, released]).toEqual(['/other', ['/first']]);
    });

    test('that an administrator unloads meanwhile comes, and what was there goes once', async () => {
      const replacing = replace();
      await new Promise((resolve) => setImmediate(resolve));
      const loads = sent.filter(({ type }) => type === 'loadAdapter');
      await service.unload('first');
      expect(loads).toHaveLength(1);
      engine.ended(2, null);
      await replacing;
      expect(sent.filter(({ type }) => type === 'unloadAdapter')).toEqual([
        { type: 'unloadAdapter', number: 1 },
      ]);
      expect(released).toEqual(['/first']);
    });

    test('is loaded where nothing is', async () => {
      const replacing = service.replace({ name: 'second', uri: '/second' }, obtain);
      await answer(null);
      await replacing;
      expect(served.get('second')?.uri).toBe('/second');
    });
  });

  test('one that fails leaves nothing', async () => {
    const loading = service.load({ name: 'second', uri: '/second' }, obtain);
    await answer({ reason: 'InvalidEngineConfig', message: 'adapter second: rank' });
    await expect(loading).rejects.toThrow(FailureError);
    expect(served.has('second')).toBe(false);
    expect(released).toEqual(['/second']);
    expect(served.reserve('third', 2)?.number).toBe(2);
  });

  test.each([
    ['model', 'is a name of the model itself'],
    ['first', 'is loaded already'],
    ['a b', 'is none of an adapter'],
  ])('the name %s is refused', async (name, message) => {
    await expect(service.load({ name, uri: '/x' }, obtain)).rejects.toThrow(message);
  });

  test('there is room for as many as the plan has', async () => {
    const loading = service.load({ name: 'second', uri: '/second' }, obtain);
    await expect(service.load({ name: 'second', uri: '/second' }, obtain)).rejects.toThrow('loaded already');
    await expect(service.load({ name: 'third', uri: '/x' }, obtain)).rejects.toThrow('room for 2 adapters');
    await answer(null);
    await loading;
  });

  test('one that is not there is not found', async () => {
    await expect(service.unload('x')).rejects.toThrow('there is no adapter "x"; loaded: first');
  });

  test('an engine that is lost while it loads ends the load', async () => {
    const loading = service.load({ name: 'second', uri: '/second' }, obtain);
    await new Promise((resolve) => setImmediate(resolve));
    engine.lost({ reason: 'EngineFault', message: 'gone' });
    await expect(loading).rejects.toThrow('gone');
  });

  test('without a model there are none', async () => {
    service.clear();
    expect(served.all).toEqual([]);
    await expect(service.unload('first')).rejects.toThrow('none is serving');
  });
});
