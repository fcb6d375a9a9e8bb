import { expect, test } from '@jest/globals';
import { formatMi, parseQuantity } from './quantity.js';

test.each([
  ['48Gi', 48 * 2 ** 30],
  ['1500m', 1.5],
  ['2', 2],
  [4, 4],
  ['0.5', 0.5],
  ['1e3', 1000],
  ['10M', 1e7],
])('%s is %d', (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});

test.each(['', 'Gi', '4 Gi', '1.2.3', '5Xi', 'abc'])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeNull();
});

test('bytes are rounded up to whole Mi', () => {
  expect(formatMi(2 ** 20 + 1)).toBe('2Mi');
});
