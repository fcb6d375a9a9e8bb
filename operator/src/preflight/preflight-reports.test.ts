// What is reported of a checkpoint while it is read, while its read waits for others, and when that comes to nothing.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WorkQueue } from '../watch/work-queue.js';
import { PreflightWorld, service, silent, until } from './preflight.fixture.js';

let world: PreflightWorld;
beforeEach(() => {
  world = new PreflightWorld();
});
afterEach(() => world.stop());

test('a first read is reported once it takes long', async () => {
  expect(world.preflight.look('bad/a', service('bad'))).toMatchObject({ result: null });
  await until(() => world.endpoints.opened.length === 1);
  world.lateMs = 6_000;
  expect(world.preflight.look('bad/a', service('bad'))).toMatchObject({
    result: {
      state: 'unavailable',
      failure: {
        reason: 'S3Unavailable',
        message: expect.stringContaining('still being read for generation 3'),
      },
      known: null,
    },
    recheckMs: null,
  });
  expect(world.reported).toEqual([]);
});

test('what waits for others is reported as waiting, and once more when its turn comes', async () => {
  for (let at = 0; at < 5; at += 1) world.preflight.look(`bad/${at}`, service('bad'));
  await until(() => world.endpoints.opened.length === 4);
  world.lateMs = 6_000;
  const waits = {
    result: { state: 'reading', message: expect.stringContaining('once others are') },
    recheckMs: null,
  };
  expect(world.preflight.look('bad/4', service('bad'))).toMatchObject(waits);
  expect(world.reported).toEqual([]);
  world.preflight.forget('bad/0');
  await until(() => world.reported.length === 1);
  expect(world.reported).toEqual(['bad/4']);
  const { result, recheckMs } = world.preflight.look('bad/4', service('bad'));
  expect(result).toBeNull();
  expect(recheckMs).toBeGreaterThan(4_000);
  world.lateMs = 12_000;
  expect(world.preflight.look('bad/4', service('bad'))).toMatchObject({ result: { state: 'unavailable' } });
});

test('what is long is reported as being read, not that its endpoint is away', async () => {
  const open = jest.spyOn(world.endpoints, 'open');
  world.preflight.look('bad/a', service('long-silent'));
  await until(() => open.mock.calls.length === 2);
  world.lateMs = 6_000;
  expect(world.preflight.look('bad/a', service('long-silent'))).toMatchObject({
    result: { state: 'reading', message: expect.stringContaining('is long') },
  });
});

test('what is known stays while it is read again, and when that comes to nothing', async () => {
  world.start({ maxReadMs: 1_000 });
  const resolved = await world.preflight.resolve('good/a', service('good'));
  expect(resolved).toMatchObject({ state: 'resolved' });
  expect(world.preflight.look('good/a', service('good'))).toMatchObject({
    result: resolved,
    recheckMs: expect.any(Number),
  });
  world.endpoints.files.set('good', silent);
  world.lateMs = 11 * 60_000;
  expect(world.preflight.look('good/a', service('good'))).toEqual({ result: resolved, recheckMs: null });
  await until(() => world.endpoints.opened.length === 1);
  world.reported.length = 0;
  world.lateMs += 1_000;
  await until(() => world.reported.length === 1);
  expect(world.preflight.look('good/a', service('good'))).toMatchObject({
    result: { state: 'unavailable', known: { fileBytes: expect.any(Number) } },
  });
});

describe('what is no failure of the service', () => {
  const away = new Error('the API server is away');

  test('is thrown once and then reported, until it is read again', async () => {
    const open = jest.spyOn(world.endpoints, 'open').mockRejectedValueOnce(away);
    world.preflight.look('good/a', service('good'));
    await until(() => world.reported.length === 1);
    expect(() => world.preflight.look('good/a', service('good'))).toThrow(away);
    const { result, recheckMs } = world.preflight.look('good/a', service('good'));
    expect(result).toMatchObject({ state: 'reading', message: expect.stringContaining(away.message) });
    expect(recheckMs).toBeGreaterThan(2_000);
    await expect(world.preflight.resolve('good/a', service('good'))).rejects.toThrow(away);
    expect(open).toHaveBeenCalledTimes(1);
    world.lateMs = 4_000;
    const resolved = { state: 'resolved' };
    expect(await world.preflight.resolve('good/a', service('good'))).toMatchObject(resolved);
    expect(world.preflight.look('good/a', service('good')).result).toMatchObject(resolved);
    expect(open).toHaveBeenCalledTimes(2);
  });

  test('takes nothing away from what is known', async () => {
    const resolved = await world.preflight.resolve('good/a', service('good'));
    jest.spyOn(world.endpoints, 'open').mockRejectedValue(away);
    world.lateMs = 11 * 60_000;
    world.reported.length = 0;
    world.preflight.look('good/a', service('good'));
    await until(() => world.reported.length === 1);
    expect(() => world.preflight.look('good/a', service('good'))).toThrow(away);
    expect(world.preflight.look('good/a', service('good')).result).toEqual(resolved);
  });

  test('is asked about with back-off, whatever the queue does', async () => {
    const open = jest.spyOn(world.endpoints, 'open').mockRejectedValue(away);
    const errors: unknown[] = [];
    let answers = 0;
    const queue = new WorkQueue({
      concurrency: 1,
      backoff: { firstMs: 1, maxMs: 10 },
      work: async (key) => {
        await Promise.resolve();
        const { recheckMs } = world.preflight.look(key, service('good'));
        answers += 1;
        return recheckMs;
      },
      onError: (_key, error) => errors.push(error),
    });
    world.start({ onRead: (key) => queue.add(key) });
    queue.add('good/a');
    // The queue asks again after a failure.
    await until(() => errors.length === 1 && answers >= 2);
    expect(open).toHaveBeenCalledTimes(1);
    // Its timers run by a clock of their own.
    world.lateMs = 4_000;
    queue.add('good/a');
    await until(() => errors.length === 2 && answers >= 4);
    await queue.stop();
    expect(open).toHaveBeenCalledTimes(2);
    expect(errors).toEqual([away, away]);
  });
});
