import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryResponseStore } from './memory-response-store.js';
import type { StoreLimits } from './store-ledger.js';
import { asker, storedConversation, storedResponse } from './stored-response.fixture.js';

const limits: StoreLimits = { maxBytes: 100_000, maxCount: 4, maxAgeMs: 1_000 };
let now: number;
let store: MemoryResponseStore;
const start = (change: Partial<StoreLimits> = {}): void => {
  now = 0;
  store = new MemoryResponseStore({ ...limits, ...change }, () => now);
};
beforeEach(() => start());

const has = async (owner: string, id: string): Promise<boolean> =>
  (await store.get(asker(owner), id)) !== null;
const put = (owner: string, id: string, text?: string): Promise<boolean> =>
  store.put(owner, storedResponse(id, text));

test('what is stored is found as it was by its owner, and by no other', async () => {
  await put('a', 'resp_1');
  expect(await store.get(asker('a'), 'resp_1')).toEqual(storedResponse('resp_1'));
  expect(await has('b', 'resp_1')).toBe(false);
  expect(await store.delete('b', 'resp_1')).toBe(false);
  expect(await has('a', 'resp_1')).toBe(true);
});

test('what is deleted or stored anew takes no room', async () => {
  await put('a', 'resp_1', 'x'.repeat(500));
  await put('a', 'resp_1', 'x');
  expect(store.count).toBe(1);
  expect(store.bytes).toBeLessThan(1_000);
  expect(await store.delete('a', 'resp_1')).toBe(true);
  expect([store.count, store.bytes]).toEqual([0, 0]);
});

test('nothing is read that there is no room for', async () => {
  await put('a', 'resp_1', 'x'.repeat(500));
  const sizes: number[] = [];
  const take = (bytes: number): void => {
    sizes.push(bytes);
    throw new Error('no room');
  };
  await expect(store.get({ owner: 'a', take }, 'resp_1')).rejects.toThrow('no room');
  expect(await store.get({ owner: 'a', take }, 'resp_2')).toBeNull();
  expect(sizes).toEqual([JSON.stringify(storedResponse('resp_1', 'x'.repeat(500))).length]);
});

describe('where there is no room', () => {
  test('the oldest is evicted', async () => {
    for (const id of ['1', '2', '3', '4', '5']) await put('a', id);
    expect(await Promise.all(['1', '2', '5'].map((id) => has('a', id)))).toEqual([false, true, true]);
  });

  test.each([
    ['responses', {}, ''],
    ['bytes', { maxCount: 1_000 }, 'x'.repeat(9_000)],
  ])('of %s, the owner that stores most loses its own', async (_, change, text) => {
    start(change);
    await put('quiet', '1', text);
    for (let i = 0; i < 50; i++) await put('loud', `loud-${String(i)}`, text);
    expect([await has('quiet', '1'), await has('loud', 'loud-0'), await has('loud', 'loud-49')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(store.bytes).toBeLessThanOrEqual(limits.maxBytes);
  });

  test('one that takes an eighth of all is not stored, and evicts nothing', async () => {
    await put('a', '1');
    expect(await put('a', '2', 'x'.repeat(limits.maxBytes / 8))).toBe(false);
    expect([await has('a', '1'), await has('a', '2')]).toEqual([true, false]);
  });
});

test('a change that has no room, or fails, changes nothing; one that is made renews the age', async () => {
  const before = storedConversation('conv_1');
  await store.put('a', before);
  const items = [{ ...before.items[0]!, content: 'x'.repeat(limits.maxBytes / 8) }];
  expect(await store.change(asker('a'), 'conv_1', () => ({ ...before, items }))).toBe('too large');
  const failing = (): never => {
    throw new Error('no');
  };
  await expect(store.change(asker('a'), 'conv_1', failing)).rejects.toThrow('no');
  expect(await store.get(asker('a'), 'conv_1')).toEqual(before);
  expect(await store.change(asker('b'), 'conv_1', failing)).toBe('missing');
  now = 999;
  const after = { ...before, items: [] };
  expect(await store.change(asker('a'), 'conv_1', () => after)).toEqual(after);
  now = 1_500;
  expect(await store.get(asker('a'), 'conv_1')).toEqual(after);
});

test('of a large store, none takes more than what is parsed at once', async () => {
  start({ maxBytes: 2 ** 30 });
  expect(await put('a', '1', 'x'.repeat(4_000_000))).toBe(true);
  expect(await put('a', '2', 'x'.repeat(2 ** 22))).toBe(false);
});

test('what has reached its age is gone, with the memory that it took', async () => {
  await put('a', '1');
  now = 600;
  await put('b', '2');
  now = 999;
  expect([await has('a', '1'), await has('b', '2')]).toEqual([true, true]);
  now = 1_000;
  store.dropExpired();
  expect([store.count, await has('a', '1'), await has('b', '2')]).toEqual([1, false, true]);
});
