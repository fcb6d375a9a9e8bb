import { expect, test } from '@jest/globals';
import { opensReasoning, reasoningAfter } from './reasoning.js';

const think = { begin: 1, end: 2 };
/** Ends messages. */
const eos = 3;

test.each([
  [[], false, think],
  [[5, 6], false, think],
  [[5, 1, 9], true, { begin: null, end: 2 }],
  [[1, 9, 2, 9], false, null],
  [[1, 9, 2, 9, 1], true, { begin: null, end: 2 }],
  [[1, 5, 5, 5, 5, 5, 5, 5, 5], false, think],
  // What a user wrote, and then what templates write behind it.
  [[5, 1, eos, 5, 6, 7], false, think],
  [[5, 2, eos, 5, 6, 7], false, think],
  [[5, 2, eos, 5, 6, 1], true, { begin: null, end: 2 }],
  [[5, 1, eos, 1, 2], false, null],
  [[5, 1, eos], false, think],
])('a prompt that ends %j: %j, and what may follow it %j', (prompt, opens, follows) => {
  expect(opensReasoning(Int32Array.from(prompt), think, [9999, eos])).toBe(opens);
  expect(reasoningAfter(Int32Array.from(prompt), think, [9999, eos])).toEqual(follows);
});
