import { expect, test } from '@jest/globals';

import { cutBytes, promptTerms, savedMs, termMs } from './prompt-terms.js';

const h200 = { name: 'H200', bandwidth: 4800e9, isHopper: true, multiprocessors: 132 };
const card = { ...h200, name: 'B200', isHopper: false };

test('sums of gate·up lie in memory where slices of 83 units end within pairs of 40', () => {
  // By hand: 272 pairs of 40 units in slices of 83; 131 of these end within the matrix, at 83 n, on a pair's border for 40, 80, 120.
  expect(cutBytes(2 * 17408, 5120, 132)).toBe((131 - 3) * 128 * 8192 * 4 * 2);
});

test('gates in the product’s launch spare five floats of each of 17,408 columns in 64 layers', () => {
  const [gates, unread] = promptTerms;
  expect(gates!.bytes(h200)).toBe(5 * 17408 * 4 * 64 * 8192);
  expect(termMs(gates!, h200)).toBe('47.5');
  expect([gates!.bytes(card), unread!.bytes(h200)]).toEqual([null, null]);
  expect(unread!.bytes(card)).toBe(17408 * 4 * 64 * 8192);
});

test('what is done spares an H200 gates and their sums, the others’ sums, what norms write and part of attention', () => {
  // By hand, of 4,800 GB/s at 80 %: 47.5 + 17.9 + 52.5 + 5.6 ms; of attention 96.9 - 33.4.
  expect(savedMs(h200)).toBe('187');
});
