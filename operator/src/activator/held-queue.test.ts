import { describe, expect, test } from '@jest/globals';
import { HeldQueue } from './held-queue.js';

const queue = (): HeldQueue<string> =>
  new HeldQueue({ perService: 2, total: 3, bytesPerService: 6, totalBytes: 10 });

describe('the queue', () => {
  test('lets requests go in the order in which they came whole', () => {
    const held = queue();
    for (const item of ['late', 'early']) expect([item, held.admit('a')]).toEqual([item, true]);
    held.join('a', 'early');
    held.join('a', 'late');
    for (const item of ['early', 'late'])
      expect([held.first('a'), held.remove('a', item)]).toEqual([item, true]);
    expect([held.size, held.keys]).toEqual([0, []]);
  });

  test('has so many places for a service, and in all', () => {
    const held = queue();
    expect(['a', 'a', 'a', 'b', 'b'].map((key) => held.admit(key))).toEqual([true, true, false, true, false]);
    expect(held.size).toBe(3);
    held.leave('a');
    expect(held.admit('b')).toBe(true);
  });

  test('gives a place back once, whoever leaves it', () => {
    const held = queue();
    held.admit('a');
    held.join('a', 'x');
    expect([held.remove('a', 'x'), held.remove('a', 'x'), held.first('a'), held.size]).toEqual([
      true,
      false,
      null,
      0,
    ]);
  });

  test('has so much room for bodies of a service, and in all', () => {
    const held = queue();
    const [a, b] = [held.room('a'), held.room('b')];
    expect([a.takeBytes(7), a.takeBytes(6), a.takeBytes(1)]).toEqual([false, true, false]);
    expect([b.takeBytes(5), b.takeBytes(4)]).toEqual([false, true]);
    a.giveBytes(2);
    expect([b.takeBytes(2), b.takeBytes(1), held.room('a').takeBytes(1)]).toEqual([true, false, false]);
  });

  test('says who is first, and leaves that one in line', () => {
    const held = queue();
    held.admit('a');
    expect(held.first('a')).toBeNull();
    held.join('a', 'x');
    expect([held.first('a'), held.first('a'), held.size]).toEqual(['x', 'x', 1]);
  });
});
