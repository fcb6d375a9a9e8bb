import { describe, expect, test } from '@jest/globals';
import { randomNumbers } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { cpuClock } from '../cpu-time.fixture.js';
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
    ['abacabacabad', ['abacabad'], 'abac', 'abacabad'],
    ['aabaabaaac', ['aabaaac', 'aaaa'], 'aab', 'aabaaac'],
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

  test('passes over what may not end the text, and finds what begins in it', () => {
    const matcher = new StopMatcher(['aba'], { include: false });
    expect(matcher.push('xaba', false)).toEqual({ text: 'xab', stop: null });
    expect(matcher.push('ba')).toEqual({ text: '', stop: 'aba' });
  });

  test('gives back much that was held at once, however long the stop strings are', () => {
    const stops = Array.from({ length: 16 }, (_, i) => `${'a'.repeat(20_000)}b${i.toString(16)}`);
    const matcher = new StopMatcher(stops, { include: false });
    const held = 'a'.repeat(10_000);
    expect(matcher.push(held).text).toBe('');
    const cpuMs = cpuClock();
    expect(matcher.push('c').text).toBe(`${held}c`);
    expect(cpuMs()).toBeLessThan(2000);
  });

  test('finds what a plain search finds', () => {
    const next = randomNumbers(7);
    const word = (length: number): string => Array.from({ length }, () => 'ab'.charAt(next() % 2)).join('');
    for (let i = 0; i < 500; i++) {
      const text = word(40);
      const stops = [word(1 + (next() % 9)), word(3 + (next() % 9)), 'abab'];
      const ends = stops
        .map((stop) => text.indexOf(stop))
        .map((at, n) => (at < 0 ? Infinity : at + stops[n]!.length));
      const first = Math.min(...ends);
      const longest = stops.filter((_, n) => ends[n] === first).sort((a, b) => b.length - a.length)[0]!;
      const expected = first === Infinity ? [text, null] : [text.slice(0, first - longest.length), longest];
      expect(run(text, stops, 1 + (i % 5))).toEqual(expected);
    }
  });
});
