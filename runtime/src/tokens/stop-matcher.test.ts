import { describe, expect, test } from '@jest/globals';
import { StopMatcher } from './stop-matcher.js';

/** Text and stop that come out when `text` arrives in pieces of `size` characters. */
function run(text: string, stops: string[], size: number, include = false): [string, string | null] {
  const matcher = new StopMatcher(stops, { include });
  let out = '';
  for (let i = 0; i < text.length; i += size) {
    const match = matcher.push(text.slice(i, i + size));
    out += match.text;
    if (match.stop !== null) return [out, match.stop];
  }
  return [out + matcher.flush(), null];
}

describe('StopMatcher', () => {
  test.each([
    ['one two END three', ['END'], 'one two ', 'END'],
    ['aaab', ['aab'], 'a', 'aab'],
    ['ENENEND', ['END'], 'ENEN', 'END'],
    ['no stop here EN', ['END'], 'no stop here EN', null],
    ['x\n\ny', ['\n\n', '\n'], 'x', '\n'],
    ['ab', ['b', 'ab'], '', 'ab'],
    ['abcd', ['abcd', 'bc'], 'a', 'bc'],
    ['plain', [], 'plain', null],
    ['plain', [''], 'plain', null],
  ])('%j with %j gives %j, however it is cut', (text, stops, expected, stop) => {
    for (const size of [1, 2, 3, text.length]) expect(run(text, stops, size)).toEqual([expected, stop]);
  });

  test('keeps the stop string when it is part of the text', () => {
    expect(run('one END two', ['END'], 1, true)).toEqual(['one END', 'END']);
  });

  test('holds back only what may become a stop string', () => {
    const matcher = new StopMatcher(['\nUser:'], { include: false });
    expect(matcher.push('Hello').text).toBe('Hello');
    expect(matcher.push(' you\nUs').text).toBe(' you');
    expect(matcher.push('age').text).toBe('\nUsage');
    expect(matcher.flush()).toBe('');
  });
});
