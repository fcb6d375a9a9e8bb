import { expect, test } from '@jest/globals';
import { randomNumbers } from '../../../../checkpoint/src/formats/gguf.fixture.js';
import { cpuClock } from '../../cpu-time.fixture.js';
import { StopMatcher } from '../../tokens/stop-matcher.js';
import { readStopPatterns } from './stop-patterns.js';

/** Text and what ended it, when `text` arrives in pieces of `size` characters. */
function run(
  text: string,
  asked: readonly string[],
  size: number,
  stops: readonly string[] = [],
): [string, string | null] {
  const matcher = new StopMatcher(stops, { include: false, patterns: readStopPatterns(asked) });
  let out = '';
  for (let i = 0; i < text.length; i += size) {
    const match = matcher.push(text.slice(i, i + size));
    out += match.text;
    if (match.stop !== null) return [out, match.stop];
  }
  return [out + matcher.flush(), null];
}

test.each<[text: string, patterns: readonly string[], out: string, stop: string | null]>([
  ['this and that', [' (and|or) '], 'this and ', ' (and|or) '],
  ['1. one\n2. two', ['\\n\\d+\\.'], '1. one\n2.', '\\n\\d+\\.'],
  ['aaa', ['a{2}'], 'aa', 'a{2}'],
  ['abab!', ['(?:ab)+!'], 'abab!', '(?:ab)+!'],
  ['xyz', ['z', 'y'], 'xy', 'y'],
  ['nothing', ['[0-9]'], 'nothing', null],
  ['é😀a', ['\\p{Emoji_Presentation}a'], 'é😀a', '\\p{Emoji_Presentation}a'],
  ['é😀a', ['é.a'], 'é😀a', 'é.a'],
  ['see \\n', ['\\\\n'], 'see \\n', '\\\\n'],
  ['</answer >', ['<\\/answer\\s*>'], '</answer >', '<\\/answer\\s*>'],
])('%j with %j gives %j, however it is cut', (text, patterns, out, stop) => {
  for (const size of [1, 2, 3, text.length]) {
    // Pieces are whole characters.
    if (size < text.length && /[\ud800-\udfff]/.test(text)) continue;
    expect(run(text, patterns, size)).toEqual([out, stop]);
  }
});

test.each<[text: string, stop: string, pattern: string, out: string, ended: string]>([
  ['a END b', 'END', 'b', 'a ', 'END'],
  ['a b END', 'END', 'b', 'a b', 'b'],
  ['a END', 'END', 'D', 'a ', 'END'],
  ['a EN', 'END', 'N', 'a EN', 'N'],
])('%j: the first of stop %j and pattern %j ends it', (text, stop, pattern, out, ended) => {
  for (const size of [1, text.length]) expect(run(text, [pattern], size, [stop])).toEqual([out, ended]);
});

test('holds nothing back, and passes over what may not end the text', () => {
  const matcher = new StopMatcher([], { include: false, patterns: readStopPatterns('a.*b') });
  expect(matcher.push('xa').text).toBe('xa');
  expect(matcher.push('cb', false)).toEqual({ text: 'cb', stop: null });
  expect(matcher.push('b')).toEqual({ text: 'b', stop: 'a.*b' });
});

test('finds the first end that JavaScript finds', () => {
  const next = randomNumbers(5);
  const part = (): string => ['a', 'b', '[ab]', 'a+', '(?:ab|b)', 'b?a', '(?:a|ba){2}'][next() % 7]!;
  for (let i = 0; i < 500; i++) {
    const pattern = `${part()}${part()}${'ab'.charAt(next() % 2)}`;
    const text = Array.from({ length: 12 }, () => 'abc'.charAt(next() % 3)).join('');
    const ends = Array.from({ length: text.length }, (_, at) => at + 1);
    const end = ends.find((at) => new RegExp(`(?:${pattern})$`, 'u').test(text.slice(0, at)));
    const expected = end === undefined ? [text, null] : [text.slice(0, end), pattern];
    expect(run(text, [pattern], 1 + (i % 4))).toEqual(expected);
  }
});

test('takes time in proportion to the text, whatever the pattern', () => {
  const matcher = new StopMatcher([], { include: false, patterns: readStopPatterns('(?:a|a|aa)+(?:a*)*b') });
  const cpuMs = cpuClock();
  for (let i = 0; i < 20_000; i++) matcher.push('a');
  expect(cpuMs()).toBeLessThan(2000);
});

test.each<[string | readonly string[], string]>([
  ['(a', 'stop_regex cannot be read'],
  [['a', '[b'], 'stop_regex.1 cannot be read'],
  ['^a', 'stop_regex looks around, or has ^'],
  ['a\\b', 'stop_regex looks around, or has ^'],
  ['(?<=a)b', 'stop_regex looks around, or has ^'],
  ['(a+)\\1', 'stop_regex cannot be read'],
  ['a*', 'stop_regex matches an empty text'],
  ['[]', 'stop_regex matches no text'],
  ['a{1000}', 'stop_regex is too large'],
  ['(?:a{0,30}){0,30}b', 'stop_regex is too large'],
  [`${'('.repeat(5000)}a${')'.repeat(5000)}`, 'stop_regex is too large'],
])('refuses %j', (asked, message) => {
  expect(() => readStopPatterns(asked)).toThrow(message);
});
