import { describe, expect, test } from '@jest/globals';
import { DraftPolicy } from './draft-policy.js';

/** A policy that has seen drafts accepted `rates[i]` of the time at position i, 400 times. */
function taught(method: 'ngram' | 'mtp', rates: readonly number[]): DraftPolicy {
  const policy = new DraftPolicy({ method, tokens: rates.length });
  for (let n = 0; n < 400; n++) {
    const rejected = rates.findIndex((rate) => (n * 0.618) % 1 >= rate);
    policy.observe(rates.length, rejected === -1 ? rates.length : rejected);
  }
  return policy;
}

describe('DraftPolicy', () => {
  test.each([
    ['all that may be, when they are nearly always right', 'mtp', [0.97, 0.95, 0.93], 1, 3],
    ['none, when they never are', 'ngram', [0, 0, 0, 0], 1, 0],
    ['none where the layer costs more than it gives', 'mtp', [0.1, 0.05], 1, 0],
    ['few, when later ones are seldom right', 'mtp', [0.9, 0.05, 0.02], 1, 1],
    ['fewer with many sequences, whose rows fill the step', 'mtp', [0.8, 0.6, 0.5], 64, 0],
  ] as const)('makes %s', (_, method, rates, sequences, expected) => {
    expect(taught(method, rates).next(sequences)).toBe(expected);
  });

  test('makes none without a method', () => {
    const policy = new DraftPolicy({ method: 'none', tokens: 0 });
    expect(Array.from({ length: 100 }, () => policy.next(1))).toEqual(Array.from({ length: 100 }, () => 0));
  });

  test('tries one more now and then, and so finds that drafts have become good', () => {
    const policy = taught('ngram', [0, 0]);
    const tried = Array.from({ length: 64 }, () => policy.next(1));
    expect(tried.filter((drafts) => drafts === 1)).toHaveLength(2);
    for (let step = 0; step < 2000; step++) {
      const drafts = policy.next(1);
      if (drafts > 0) policy.observe(drafts, drafts);
    }
    expect(policy.next(1)).toBe(2);
  });
});
