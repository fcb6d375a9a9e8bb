import { expect, test } from '@jest/globals';
import { randomNumbers } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { RepetitionDetector, type RepetitionRule } from './repetition-detector.js';

/** Tokens up to the one that ends a repetition; null: none does. */
function endOf(text: string, rule: RepetitionRule): number | null {
  const detector = new RepetitionDetector(rule);
  const end = [...Buffer.from(text)].findIndex((id) => detector.push(id));
  return end < 0 ? null : end + 1;
}

test.each<[text: string, minSize: number, maxSize: number, minCount: number, end: number | null]>([
  ['abababab', 2, 4, 3, 6],
  ['xxabababab', 2, 4, 3, 8],
  ['aaaa', 1, 1, 4, 4],
  ['aaaa', 2, 4, 2, 4],
  ['aaa', 2, 4, 2, null],
  ['abcabc', 1, 3, 2, 6],
  ['abcabc', 1, 2, 2, null],
  ['abcdabceabcdabce', 4, 8, 2, 16],
  ['abxabyab', 1, 8, 2, null],
  ['', 1, 8, 2, null],
])('%j, patterns of %j to %j tokens, %j times: ends after %j', (text, minSize, maxSize, minCount, end) => {
  expect(endOf(text, { minSize, maxSize, minCount })).toBe(end);
});

test('finds what a plain comparison of the last tokens finds', () => {
  const next = randomNumbers(11);
  for (let i = 0; i < 400; i++) {
    const text = Array.from({ length: 60 }, () => 'ab'.charAt(next() % 2)).join('');
    const minSize = 1 + (next() % 4);
    const rule = { minSize, maxSize: minSize + (next() % 6), minCount: 2 + (next() % 3) };
    const sizes = Array.from({ length: rule.maxSize - minSize + 1 }, (_, at) => minSize + at);
    const repeatsAt = (end: number): boolean =>
      sizes.some((size) => {
        const last = text.slice(end - size, end);
        const whole = size * rule.minCount;
        return whole <= end && text.slice(end - whole, end) === last.repeat(rule.minCount);
      });
    const ends = Array.from({ length: text.length }, (_, at) => at + 1).filter(repeatsAt);
    expect(endOf(text, rule)).toBe(ends[0] ?? null);
  }
});
