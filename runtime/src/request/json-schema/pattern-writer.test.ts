import { describe, expect, test } from '@jest/globals';
import { cpuClock } from '../../cpu-time.fixture.js';
import { plainText, UnusablePattern, writePattern } from './pattern-writer.js';

const written = (pattern: string): string => writePattern(pattern, plainText).text;
const allows = (pattern: string, text: string): boolean => new RegExp(written(pattern), 'u').test(text);

describe('writePattern', () => {
  // Each text is held against the pattern as a whole.
  test.each([
    ['.+', ['a"\\', 'é🚀'], ['a\nb', '']],
    ['[^a]', ['\n', '"'], ['a', 'bb']],
    ['^a|b$', ['a', 'b'], ['ab', '^a']],
    ['\\d{2}\\@\\-', ['12@-'], ['12\\@-']],
    ['[\\p{L}\\-]+\\@', ['é-@', 'p@'], ['{@', '1@']],
    ['\\{"a": 1}', ['{"a": 1}'], ['{"a": 1']],
    ['(?<year>\\d{4})|x', ['2026', 'x'], ['202']],
    ['\\u{1F680}', ['🚀'], ['u', 'u'.repeat(0x1f680)]],
    ['^$', [''], ['x']],
  ])('%s', (pattern, matching, others) => {
    for (const text of matching) expect([text, allows(pattern, text)]).toEqual([text, true]);
    for (const text of others) expect([text, allows(pattern, text)]).toEqual([text, false]);
  });

  // What other languages mean by these is not what they would be taken for.
  test.each(['\\Aab\\Z', 'a{,3}', '\\h', '\\p{L}}', '(?P<a>b)', '(?i)a'])('refuses %s', (pattern) => {
    expect(() => written(pattern)).toThrow(UnusablePattern);
  });

  test.each([1_500, 50_000])('refuses %i groups within each other, and says so', (depth) => {
    const pattern = '('.repeat(depth) + 'a' + 'b?){1,2}'.repeat(depth);
    expect(() => written(pattern)).toThrow(new UnusablePattern('is nested too deeply: take fewer groups'));
  });

  test.each(['[^\\s\\S]', 'a[]', '(a|[])[]'])('refuses %s, which no text has', (pattern) => {
    expect(() => written(pattern)).toThrow('characters that an answer cannot have');
  });

  test('takes as many characters as a body may have, at once', () => {
    const cpuMs = cpuClock();
    expect(written('a'.repeat(65_536))).toHaveLength(3 * 65_536 + 4);
    expect(cpuMs()).toBeLessThan(1000);
  });
});
