import { expect, test } from '@jest/globals';
import { addRange, countBytes, type ByteRange } from './byte-ranges.js';

test('ranges that arrive in any order join into the whole file', () => {
  const pieces = Array.from({ length: 27 }, (_, i): ByteRange => [i * 37, Math.min(1000, (i + 1) * 37)]);
  const shuffled = pieces.map((_, i) => pieces[(i * 5) % pieces.length]!);
  const done = shuffled.reduce<ByteRange[]>((ranges, piece) => addRange(ranges, piece), []);
  expect(done).toEqual([[0, 999]]);
  expect(countBytes(done)).toBe(999);
});

test('what lies apart stays apart', () => {
  expect(
    addRange(
      [
        [0, 10],
        [20, 30],
      ],
      [12, 20],
    ),
  ).toEqual([
    [0, 10],
    [12, 30],
  ]);
});
