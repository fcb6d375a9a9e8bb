import { describe, expect, test } from '@jest/globals';
import { Detokenizer } from './detokenizer.js';

/** One token per byte: the hardest cut of every character. */
const perByte = (id: number): Uint8Array => Uint8Array.of(id);
const bytes = (text: string): number[] => [...new TextEncoder().encode(text)];

describe('Detokenizer', () => {
  test('never shows part of a character, and loses none', () => {
    const text = 'aé日🦙👩‍👩‍👧\ufeffz';
    const detokenizer = new Detokenizer(perByte);
    const pieces = bytes(text).map((byte) => detokenizer.push([byte]));
    expect(pieces.join('')).not.toContain('\ufffd');
    expect(pieces.join('') + detokenizer.flush()).toBe(text);
  });

  test('shows an unfinished character as U+FFFD at the end only', () => {
    const detokenizer = new Detokenizer(perByte);
    expect(detokenizer.push(bytes('🦙').slice(0, 3))).toBe('');
    expect(detokenizer.flush()).toBe('\ufffd');
  });

  test('continues after bytes that are no UTF-8', () => {
    const detokenizer = new Detokenizer(perByte);
    expect(detokenizer.push([0xff, ...bytes('ok')]) + detokenizer.flush()).toBe('\ufffdok');
  });
});
