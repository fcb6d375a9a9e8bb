import { beforeEach, describe, expect, test } from '@jest/globals';
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
  await service.prepare(engine, obtain);
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
