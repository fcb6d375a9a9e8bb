import { describe, expect, test } from '@jest/globals';
import type { GenerateRequest } from './generation.js';
import { Sequence } from './sequence.js';
import { WaitingQueue } from './waiting-queue.js';
import { request } from './workload.fixture.js';

/** A sequence of 100 tokens, prompt and answer, unless said otherwise. */
function sequence(id: string, changes: Partial<GenerateRequest> = {}, tokens = 100): Sequence {
  return new Sequence({ ...request(id, 10, tokens - 10), ...changes }, 10_000);
}

function take(queue: WaitingQueue, count: number): string[] {
  return Array.from({ length: count }, () => {
    const id = queue.head!.request.id;
    queue.shift();
    return id;
  });
}

const keyOf = (id: string): string => id.slice(0, 1);
const count = (ids: readonly string[], key: string): number => ids.filter((id) => keyOf(id) === key).length;

describe('WaitingQueue', () => {
  test('without keys and priorities it is first come, first served', () => {
    const queue = new WaitingQueue();
    const ids = ['a', 'b', 'c', 'd'];
    for (const [i, id] of ids.entries()) queue.push(sequence(id, {}, 500 - 100 * i), Infinity);
    expect(take(queue, 4)).toEqual(ids);
    expect(queue.head).toBeNull();
  });

  test('a key with a thousand requests waiting holds up another’s first by no more than one', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 1000; i++) queue.push(sequence(`a${i}`, { fairnessKey: 'a' }), Infinity);
    take(queue, 100);
    for (let i = 0; i < 3; i++) queue.push(sequence(`b${i}`, { fairnessKey: 'b' }), Infinity);
    expect(take(queue, 6).map(keyOf)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  test('keys share by tokens, not by requests', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 300; i++) {
      queue.push(sequence(`a${i}`, { fairnessKey: 'a' }, 400), Infinity);
      queue.push(sequence(`b${i}`, { fairnessKey: 'b' }, 100), Infinity);
    }
    const ids = take(queue, 200);
    expect(count(ids, 'a') * 400).toBeCloseTo(count(ids, 'b') * 100, -3);
  });

  test('a level of priority is twice the share, and the lowest is served all the same', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 300; i++) {
      queue.push(sequence(`a${i}`, { priority: -1 }), Infinity);
      queue.push(sequence(`b${i}`, { priority: 0 }), Infinity);
      queue.push(sequence(`c${i}`, { priority: 3 }), Infinity);
    }
    const ids = take(queue, 250);
    expect([count(ids, 'a'), count(ids, 'b'), count(ids, 'c')]).toEqual([160, 80, 10]);
  });

  test('an endless stream of urgent requests does not starve one that is not', () => {
    const queue = new WaitingQueue();
    queue.push(sequence('b', { priority: 8 }), Infinity);
    let served = 0;
    for (let last = ''; last !== 'b'; served++) {
      queue.push(sequence(`a${served}`, { priority: 0 }), Infinity);
      [last = ''] = take(queue, 1);
      expect(served).toBeLessThan(300);
    }
    // The cost of one such request is that of 2 ** 8 usual ones.
    expect(served).toBe(256);
  });

  test('to spread over priorities gains a key nothing', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 300; i++) {
      queue.push(sequence(`a${i}`, { fairnessKey: 'a' }), Infinity);
      queue.push(sequence(`b${i}`, { fairnessKey: 'b', priority: i % 3 }), Infinity);
    }
    expect(count(take(queue, 200), 'a')).toBe(100);
  });

  test('a key whose requests give up is served all the same', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 200; i++) queue.push(sequence(`a${i}`, { fairnessKey: 'a' }), Infinity);
    const ids: string[] = [];
    // Two of b come while one of all is served, so that half of b's and more wait in vain.
    for (let now = 0; now < 2_000; now++) {
      for (const i of [0, 1]) queue.push(sequence(`b${now}-${i}`, { fairnessKey: 'b' }), now + 50);
      queue.push(sequence(`a${now + 200}`, { fairnessKey: 'a' }), Infinity);
      queue.expire(now);
      ids.push(...take(queue, 1));
    }
    expect(count(ids.slice(1_000), 'b')).toBeCloseTo(500, -1);
  });

  test('an answer costs the tokens that it came to have, not those that it might have had', () => {
    const queue = new WaitingQueue();
    const ids: string[] = [];
    for (let i = 0; i < 400; i++) {
      // What a leaves open ends as early as b's.
      queue.push(sequence(`a${i}`, { fairnessKey: 'a' }, 8_000), Infinity);
      queue.push(sequence(`b${i}`, { fairnessKey: 'b' }), Infinity);
    }
    while (ids.length < 400) {
      const ended = queue.head!;
      ids.push(...take(queue, 1));
      for (let i = 0; i < 90; i++) ended.generated.push(i);
      queue.settle(ended);
    }
    expect(count(ids, 'a')).toBeCloseTo(200, -1);
  });

  test('a key pays for more than was guessed although it had nothing left to wait', () => {
    const queue = new WaitingQueue();
    const short = sequence('a0', { fairnessKey: 'a' });
    queue.push(short, Infinity);
    take(queue, 1);
    queue.settle(short);
    const long = sequence('a1', { fairnessKey: 'a' }, 500);
    queue.push(long, Infinity);
    take(queue, 1);
    for (let i = 0; i < 490; i++) long.generated.push(i);
    queue.settle(long);
    for (const id of ['a2', 'b2', 'b3', 'b4', 'b5', 'b6'])
      queue.push(sequence(id, { fairnessKey: keyOf(id) }, 110), Infinity);
    expect(take(queue, 5).map(keyOf)).toEqual(['b', 'b', 'b', 'b', 'b']);
  });

  test('what was preempted goes first, the oldest before the others', () => {
    const queue = new WaitingQueue();
    queue.push(sequence('new', { priority: -8 }), Infinity);
    for (const id of ['young', 'old']) queue.putBack(sequence(id));
    expect(take(queue, 3)).toEqual(['old', 'young', 'new']);
  });

  test('what is cancelled leaves the queue and costs its key nothing', () => {
    const queue = new WaitingQueue();
    for (let i = 0; i < 50; i++) queue.push(sequence(`a${i}`, { fairnessKey: 'a' }), Infinity);
    queue.putBack(sequence('preempted'));
    expect(queue.remove('preempted')).toBe(true);
    for (let i = 49; i > 0; i--) expect(queue.remove(`a${i}`)).toBe(true);
    expect(queue.remove('a1')).toBe(false);
    queue.push(sequence('b0', { fairnessKey: 'b' }, 300), Infinity);
    queue.push(sequence('a50', { fairnessKey: 'a' }), Infinity);
    expect(queue.length).toBe(3);
    expect(take(queue, 3)).toEqual(['a0', 'a50', 'b0']);
  });

  test('what waits longer than it may is taken out once; what had begun stays', () => {
    const queue = new WaitingQueue();
    queue.push(sequence('soon'), 10);
    queue.push(sequence('later'), 20);
    queue.push(sequence('never'), Infinity);
    queue.putBack(sequence('preempted'));
    const expired = (now: number): string[] => queue.expire(now).map(({ request: { id } }) => id);
    expect([expired(9), expired(10), expired(10), expired(30)]).toEqual([[], ['soon'], [], ['later']]);
    expect(take(queue, 2)).toEqual(['preempted', 'never']);
  });
});
