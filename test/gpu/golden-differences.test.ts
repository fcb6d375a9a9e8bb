import { describe, expect, test } from '@jest/globals';

import { describeGreedy, describeScores, greedyDifferences, scoreDifferences } from './golden-differences.js';

const bar = { allowed: 1.5, close: 0.8 };
const golden = {
  greedy: [
    { prompt: [5], tokens: [7, 8, 9], margins: [2, 1, 0.1], logprobs: [-1, -2, -3] },
    { prompt: [6], tokens: [4, 4, 4], margins: [0.3, 2, 2], logprobs: [-1, -1, -1] },
  ],
  teacherForced: {
    ids: [1, 2, 3, 4, 5],
    argmax: [20, 30, 40, 50],
    margins: [1, 0.2, 1, 1],
    logprobs: [-1, -2, -3, -4],
  },
};

describe('scores', () => {
  test('are compared at all positions: the furthest by its place and both tokens', () => {
    const got = { logprobs: [-1, -2.5, -1, -2.5], best: [20, 31, 41, 50] };
    const found = scoreDifferences(got, golden, bar);
    expect(found).toEqual({
      mean: 1,
      largest: 2,
      position: 2,
      logprob: { got: -1, wanted: -3 },
      likeliest: { got: 41, wanted: 40 },
      beyond: 2,
      otherTokens: 1,
    });
    expect(describeScores(found)).toBe(
      'scores 1.0000 off on average, 2.000 at position 2 (-1.000 for -3.000, likeliest 41 for 40), ' +
        '2 beyond the bar, 1 other clear tokens',
    );
  });

  test('that are no number are infinitely far', () => {
    const got = { logprobs: [-1, NaN, -3, -4], best: [20, 30, 40, 50] };
    expect(scoreDifferences(got, golden, bar)).toMatchObject({ largest: Infinity, position: 1, beyond: 1 });
  });
});

test('greedy tokens are compared up to the first close call, and where they part is reported beyond it', () => {
  const got = [
    { tokens: [7, 8, 1], logprobs: [-1.25, -2, -9] },
    { tokens: [4, 4, 4], logprobs: [-9, -9, -9] },
  ];
  const found = greedyDifferences(got, golden, bar);
  expect(found).toEqual({ steps: 2, largest: 0.25, parts: [{ prompt: 0, step: 2, margin: 0.1 }] });
  expect(describeGreedy(found)).toBe(
    'greedy 0.250 off over 2 clear steps, prompts part at step 0:2 (margin 0.10)',
  );
});
