import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../request/body/api-error.js';
import { Admission } from './admission.js';

/** Null when it is refused. */
function enter(admission: Admission, key: string | null, count = 1): (() => void) | null {
  try {
    return admission.enter(count, key);
  } catch (error) {
    const full = admission.inFlight + count > admission.limit;
    const refusal = full ? { code: 'queue_full', status: 503 } : { code: 'rate_limit_exceeded', status: 429 };
    expect(error).toMatchObject({ ...refusal, retryAfterSeconds: 1 });
    expect(error).toBeInstanceOf(ApiError);
    return null;
  }
}

/** How many a key gets that asks until it is refused. */
function flood(admission: Admission, key: string | null): number {
  let held = 0;
  while (enter(admission, key) !== null) held += 1;
  return held;
}

describe('Admission', () => {
  test('without keys gives all its room, and takes it back once', () => {
    const admission = new Admission(10);
    const leave = enter(admission, null, 4)!;
    expect(flood(admission, null)).toBe(6);
    expect(enter(admission, null)).toBeNull();
    leave();
    leave();
    expect([admission.inFlight, flood(admission, null)]).toEqual([6, 4]);
  });

  test('leaves room for a key that comes after one that floods, again and again', () => {
    const admission = new Admission(1000);
    expect(flood(admission, 'flood')).toBeGreaterThan(850);
    for (let i = 0; i < 50; i++) {
      const leave = enter(admission, `quiet-${String(i % 5)}`);
      expect(leave).not.toBeNull();
      expect(flood(admission, 'flood')).toBe(0);
      leave!();
    }
  });

  test('brings keys that all flood to equal parts, once those of the first end', () => {
    const admission = new Admission(1000);
    const held = new Map<string, (() => void)[]>([
      ['a', []],
      ['b', []],
      ['c', []],
    ]);
    const fill = (key: string): void => {
      for (let leave = enter(admission, key); leave !== null; leave = enter(admission, key))
        held.get(key)!.push(leave);
    };
    for (let round = 0; round < 2_000; round++) {
      for (const [key, leaves] of held) {
        fill(key);
        // The oldest ends.
        if (leaves.length > 300) leaves.shift()!();
      }
    }
    for (const leaves of held.values()) expect(leaves.length).toBeGreaterThan(280);
    expect(enter(admission, 'late')).not.toBeNull();
  });

  test('lets in a first request that is large, where it fits', () => {
    const admission = new Admission(10);
    expect(() => admission.enter(11, 'a')).toThrow(
      'asks for 11 answers at once; this replica takes at most 10',
    );
    expect(enter(admission, 'a', 10)).not.toBeNull();
    expect(enter(admission, 'b')).toBeNull();
  });
});
