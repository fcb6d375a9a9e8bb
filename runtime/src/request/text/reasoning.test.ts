import { expect, test } from '@jest/globals';
import { opensReasoning, reasoningAfter } from './reasoning.js';

const think = { begin: 1, end: 2 };

test.each([
  [[], false, think],
  [[5, 6], false, think],
  [[5, 1, 9], true, { begin: null, end: 2 }],
  [[1, 9, 2, 9], false, null],
  [[1, 9, 2, 9, 1], true, { begin: null, end: 2 }],
  [[1, 5, 5, 5, 5, 5, 5, 5, 5], false, think],
])('a prompt that ends %j: %j, and what may follow it %j', (prompt, opens, follows) => {
  expect(opensReasoning(Int32Array.from(prompt), think)).toBe(opens);
  expect(reasoningAfter(Int32Array.from(prompt), think)).toEqual(follows);
});
