import { expect, test } from '@jest/globals';
import { countRows, hasRow, withRows, type RowRanges } from './row-ranges.js';

test.each<[string, RowRanges, number[], RowRanges]>([
  ['the first', [], [0], [[0, 1]]],
  ['in any order', [], [2, 0, 1], [[0, 3]]],
  [
    'beside what is there',
    [[0, 5]],
    [5, 7],
    [
      [0, 6],
      [7, 8],
    ],
  ],
  [
    'between two',
    [
      [0, 2],
      [3, 5],
    ],
    [2],
    [[0, 5]],
  ],
  ['again', [[0, 5]], [3, 4], [[0, 5]]],
  ['none', [[1, 2]], [], [[1, 2]]],
])('%s', (_, before, rows, after) => {
  expect(withRows(before, rows)).toEqual(after);
});

test('rows in random order are one range, and until then each is there or not', () => {
  const rows = Array.from({ length: 200 }, (_, row) => (row * 77) % 200);
  let ranges: RowRanges = [];
  rows.forEach((row, index) => {
    expect(hasRow(ranges, row)).toBe(false);
    ranges = withRows(ranges, [row]);
    expect([hasRow(ranges, row), countRows(ranges)]).toEqual([true, index + 1]);
  });
  expect(ranges).toEqual([[0, 200]]);
});
