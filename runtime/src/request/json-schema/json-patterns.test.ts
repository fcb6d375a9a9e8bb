import { describe, expect, test } from '@jest/globals';
import { JsonPatterns } from './json-patterns.js';
import { UnusablePattern } from './pattern-writer.js';

const patternInJson = (pattern: string, { escaped = true } = {}): string =>
  new JsonPatterns({ escaped }).inJson(pattern);

/** Whether the inside of a JSON string is one that the written pattern lets through. */
const allows = (pattern: string, text: string, options = {}): boolean =>
  new RegExp(patternInJson(pattern, options), 'u').test(JSON.stringify(text).slice(1, -1));

describe('patternInJson', () => {
  test.each([
    ['^(a|b)$', ['a', 'b'], ['', 'ab', 'c']],
    ['[^a-z]', ['"', '\\', '\n', 'A', '🚀'], ['a', 'AB']],
    ['a"\\\\', ['a"\\'], ['a"', 'a\\']],
    ['(^x|y)z$', ['xz', 'yz'], ['z', 'ayz']],
    ['\\w{2,3}\\-?', ['ab', 'a_1-'], ['a', 'ab+']],
    ['(|a)b*?', ['', 'abb'], ['ba']],
    ['^$', [''], [' ']],
    ['.', ['é', '"'], ['\n']],
  ])('%s', (pattern, matching, others) => {
    for (const text of matching) expect([text, allows(pattern, text)]).toEqual([text, true]);
    for (const text of others) expect([text, allows(pattern, text)]).toEqual([text, false]);
  });

  test('where a backslash would be one, other characters are taken', () => {
    expect(allows('[^a]', '"', { escaped: false })).toBe(false);
    expect(allows('[^a]', 'b', { escaped: false })).toBe(true);
    expect(allows('["]', '"', { escaped: false })).toBe(true);
  });

  test('control characters never stand as they are', () => {
    expect(new RegExp(patternInJson('[^a]'), 'u').test('\n')).toBe(false);
  });

  test.each([
    ['(?=a)b', 'looks around'],
    ['a^b', 'looks around'],
    ['\\bx', 'looks around'],
    ['(a*)\\1', 'cannot be read'],
    ['(', 'cannot be read'],
    ['[\\u0000-\\u0007]', 'characters that an answer cannot have'],
  ])('says why %s cannot be used', (pattern, why) => {
    expect(() => patternInJson(pattern)).toThrow(UnusablePattern);
    expect(() => patternInJson(pattern)).toThrow(why);
  });

  test('classes of Unicode are refused before they fill the memory, in one pattern and in many', () => {
    expect(() => patternInJson('\\p{L}'.repeat(9000))).toThrow('more than 20000 ranges');
    const patterns = new JsonPatterns({ escaped: true });
    const checkAll = (): void => {
      for (let i = 0; i < 40; i += 1) patterns.check('\\p{L}');
    };
    expect(checkAll).toThrow('more than 20000 ranges');
  });
});
