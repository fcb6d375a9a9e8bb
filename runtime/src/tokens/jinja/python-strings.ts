// What Python's strings do and JavaScript's do not: white space, splitting, case of words.

import type { Meter } from './meter.js';

/** What Python takes for white space. */
export const space = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const isSpaceChar = new RegExp(`^${space}$`, 'u');
const spaces = new RegExp(`${space}+`, 'gu');
const lineEnd = new RegExp(String.raw`\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]`, 'g');

export const isSpace = (text: string): boolean =>
  text !== '' && Array.from(text).every((each) => isSpaceChar.test(each));

export type Sides = 'both' | 'left' | 'right';

/** @param characters what to strip; null: white space */
export function strip(text: string, characters: string | null, sides: Sides): string {
  const set = characters === null ? null : new Set(characters);
  const isStripped = (each: string): boolean => (set === null ? isSpaceChar.test(each) : set.has(each));
  let start = 0;
  let end = text.length;
  while (sides !== 'right' && start < end) {
    const each = String.fromCodePoint(text.codePointAt(start) ?? 0);
    if (!isStripped(each)) break;
    start += each.length;
  }
  while (sides !== 'left' && end > start) {
    const pair = end - 2 >= start ? (text.codePointAt(end - 2) ?? 0) : 0;
    const each = pair > 0xffff ? String.fromCodePoint(pair) : (text[end - 1] ?? '');
    if (!isStripped(each)) break;
    end -= each.length;
  }
  return text.slice(start, end);
}

/** At runs of white space; what is not split off keeps its white space. */
export function splitAtSpace(text: string, most: number): string[] {
  const parts: string[] = [];
  const rest = strip(text, null, 'left');
  let start = 0;
  for (const { 0: run, index } of rest.matchAll(spaces)) {
    if (parts.length === most) break;
    parts.push(rest.slice(start, index));
    start = index + run.length;
  }
  return start < rest.length ? [...parts, rest.slice(start)] : parts;
}

export function split(text: string, separator: string, most: number): string[] {
  const parts = text.split(separator);
  return most < 0 || parts.length <= most + 1
    ? parts
    : [...parts.slice(0, most), parts.slice(most).join(separator)];
}

export function splitFromRight(text: string, separator: string, most: number): string[] {
  if (most < 0) return text.split(separator);
  const parts: string[] = [];
  let end = text.length;
  while (parts.length < most) {
    const at = text.slice(0, end).lastIndexOf(separator);
    if (at === -1) break;
    parts.push(text.slice(at + separator.length, end));
    end = at;
  }
  return [...parts, text.slice(0, end)].reverse();
}

export function splitFromRightAtSpace(text: string, most: number): string[] {
  const reversed = (each: string): string => Array.from(each).reverse().join('');
  return splitAtSpace(reversed(text), most).map(reversed).reverse();
}

export function lines(text: string, keepsEnds: boolean): string[] {
  const found: string[] = [];
  let start = 0;
  for (const end of text.matchAll(lineEnd)) {
    found.push(text.slice(start, keepsEnds ? end.index + end[0].length : end.index));
    start = end.index + end[0].length;
  }
  return start < text.length ? [...found, text.slice(start)] : found;
}

/** @param most of replacements; negative: all */
export function replace(text: string, old: string, by: string, most: number, meter: Meter): string {
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  const count = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  meter.chars(text.length + count * by.length);
  return (
    parts.slice(0, count + 1).join(by) +
    (count + 1 < parts.length ? old + parts.slice(count + 1).join(old) : '')
  );
}

/** The first letter of each word in upper case. */
export function titled(text: string): string {
  return text.replaceAll(/\p{L}+/gu, (word) => capitalized(word));
}

export function capitalized(text: string): string {
  const [first = '', ...rest] = Array.from(text);
  return first.toUpperCase() + rest.join('').toLowerCase();
}

export function swappedCase(text: string): string {
  return Array.from(text, (each) =>
    each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase(),
  ).join('');
}
