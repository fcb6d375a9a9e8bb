import { describe, expect, test } from '@jest/globals';
import { addRange, countBytes, missingRanges, type ByteRange } from './range-plan.js';

describe('missingRanges', () => {
  test('cuts a whole file into pieces', () => {
    expect(missingRanges(25, [], 10)).toEqual([
      [0, 10],
      [10, 20],
      [20, 25],
    ]);
  });

  test('leaves out what is done, wherever it lies', () => {
    expect(
      missingRanges(
        40,
        [
          [0, 5],
          [10, 20],
          [35, 40],
        ],
        10,
      ),
    ).toEqual([
      [5, 10],
      [20, 30],
      [30, 35],
    ]);
  });

  test('asks for nothing of an empty or a complete file', () => {
    expect(missingRanges(0, [], 10)).toEqual([]);
    expect(missingRanges(7, [[0, 7]], 10)).toEqual([]);
  });
});

test('ranges that arrive in any order join into the whole file', () => {
  const pieces = missingRanges(1000, [], 37);
  const shuffled = pieces.map((_, i) => pieces[(i * 5) % pieces.length]!);
  const done = shuffled.reduce<ByteRange[]>((ranges, piece) => addRange(ranges, piece), []);
  expect(done).toEqual([[0, 1000]]);
  expect(countBytes(done)).toBe(1000);
});
