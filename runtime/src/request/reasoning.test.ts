import { expect, test } from '@jest/globals';
import { opensReasoning } from './reasoning.js';

const think = { begin: 1, end: 2 };

test.each([
  [[], false],
  [[5, 6], false],
  [[5, 1, 9], true],
  [[1, 9, 2, 9], false],
  [[1, 9, 2, 9, 1], true],
  [[1, 5, 5, 5, 5, 5, 5, 5, 5], false],
])('a prompt that ends %j: %j', (prompt, opens) => {
  expect(opensReasoning(Int32Array.from(prompt), think)).toBe(opens);
});
