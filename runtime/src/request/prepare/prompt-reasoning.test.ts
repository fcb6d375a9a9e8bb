import { expect, test } from '@jest/globals';
import { isOpen, reasoningAfter } from './prompt-reasoning.js';

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
  const reasoning = reasoningAfter(Int32Array.from(prompt), think, [9999, eos]);
  expect(isOpen(reasoning)).toBe(opens);
  expect(reasoning).toEqual(follows);
});

const many = Array.from({ length: 20 }, () => 5);

test.each([
  ['begins a thought', [1, ...many], { begin: null, end: 2 }],
  ['has ended its thought', [1, 9, 2, ...many], null],
  ['has no thought', many, think],
])('a message that is continued and %s', (_, message, follows) => {
  // As a template has them that ends no message of a user with a token.
  const prompt = Int32Array.from([1, ...many, ...message]);
  expect(reasoningAfter(prompt, think, [eos], message.length)).toEqual(follows);
});
