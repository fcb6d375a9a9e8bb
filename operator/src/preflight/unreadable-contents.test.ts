// A checkpoint that ended its reader is not read again before it changes, a day is over or a person asks.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import type { WantedService } from '../domain/wanted-service.js';
import { PreflightWorld, folder, long, longContents, service } from './preflight.fixture.js';
import type { CheckpointFiles } from './read-safetensors.js';

let world: PreflightWorld;
beforeEach(() => {
  world = new PreflightWorld();
});
afterEach(() => world.stop());

describe('a checkpoint that ended its reader', () => {
  const failure = { reason: 'CheckpointUnreadable', message: 'took more than 384 MiB' } as const;

  test('is not read again at once, by this operator or the next', async () => {
    let reads = 0;
    const ends = (): Promise<never> => {
      reads += 1;
      return Promise.reject(new FailureError(failure.reason, failure.message));
    };
    world.start({ longReader: { judge: ends } });
    expect(await world.preflight.resolve('a/long', service('a', 'long'))).toEqual({
      state: 'failed',
      failure,
    });
    world.lateMs = 5 * 60_000;
    expect(world.preflight.look('a/long', service('a', 'long'))).toMatchObject({
      result: { state: 'failed', failure },
    });
    expect(reads).toBe(1);
    world.start({ longReader: { judge: ends } });
    const next = world.preflight.look('a/long', service('a', 'long'), failure);
    expect(next.result).toEqual({ state: 'failed', failure });
    expect(next.recheckMs).toBeGreaterThan(5 * 60_000);
    expect(reads).toBe(1);
  });

  describe('has its content remembered', () => {
    let reads = 0;
    const endsWith = (name: string): Promise<unknown> =>
      world.preflight.resolve(`a/${name}`, service('a', 'long'));
    beforeEach(() => {
      reads = 0;
      const judge = (): Promise<never> => {
        reads += 1;
        return Promise.reject(new FailureError(failure.reason, failure.message));
      };
      world.start({ longReader: { judge } });
    });
    const failed = { state: 'failed', failure };

    test('by all services, edits and later looks, until it changes', async () => {
      const edited = {
        ...service('a', 'long'),
        spec: { ...service('a').spec, env: [{ name: 'A', value: 'b' }] },
      };
      expect(await endsWith('one')).toEqual(failed);
      expect(await endsWith('two')).toEqual(failed);
      expect(await world.preflight.resolve('b/long', service('b', 'long'))).toEqual(failed);
      expect(await world.preflight.resolve('a/one', edited)).toEqual(failed);
      world.lateMs = 11 * 60_000;
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(1);
      world.endpoints.files.set('long', folder({ ...longContents, 'config.json': '{"changed":1}' }));
      world.lateMs *= 2;
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(2);
    });

    test('for a day, or until a person asks for another look', async () => {
      expect(await endsWith('one')).toEqual(failed);
      expect(await world.preflight.resolve('a/one', { ...service('a', 'long'), retry: '1' })).toEqual(failed);
      expect(reads).toBe(2);
      world.lateMs = 25 * 3_600_000;
      expect(await world.preflight.resolve('a/one', { ...service('a', 'long'), retry: '1' })).toEqual(failed);
      expect(reads).toBe(3);
    });

    test.each<[string, Partial<WantedService>]>([
      ['of another place', { checkpoint: { bucket: 'models', prefix: 'other/', file: null } }],
      // What ended the reader there may be the head.
      ['with a head of another checkpoint', { head: { bucket: 'models', prefix: 'head/', file: null } }],
    ])('and is no word on one %s', async (_, change) => {
      expect(await world.preflight.resolve('b/long', { ...service('b', 'long'), ...change })).toEqual(failed);
      expect(await endsWith('one')).toEqual(failed);
      expect(reads).toBe(2);
    });

    test.each<[string, CheckpointFiles['list']]>([
      ['may not be listed', () => Promise.reject(new FailureError('S3AccessDenied', 'no right to list'))],
      ['has no versions', () => Promise.resolve([{ name: 'config.json', bytes: 2, version: null }])],
      ['is not in its listing', () => Promise.resolve([])],
    ])('where it can be known: not of what %s', async (_, list) => {
      world.endpoints.files.set('long', { ...long, list });
      expect(await endsWith('one')).toEqual(failed);
      expect(await endsWith('two')).toEqual(failed);
      expect(reads).toBe(2);
    });
  });

  test('is read again once something changes', async () => {
    world.preflight.look('a/good', service('a', 'good'), failure);
    const changed = { ...service('a', 'good'), retry: '1' };
    expect(await world.preflight.resolve('a/good', changed)).toMatchObject({ state: 'resolved' });
  });
});
