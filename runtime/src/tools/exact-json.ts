// JSON that is to be written again as it was: JavaScript's numbers have neither all digits of a long one nor a written .0.

import { namesOf } from './written-names.js';

/** What TypeScript's library does not describe yet: ECMAScript's proposal "JSON.parse source text access". */
interface SourceJson {
  parse(
    text: string,
    revive: (this: object, key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** Stands for a scalar's text when it is written. */
  rawJSON(text: string): RawNumber;
  isRawJSON(value: object): value is RawNumber;
}

interface RawNumber {
  readonly rawJSON: string;
}

const sourceJson = JSON as unknown as SourceJson;

/** What may be a number that JavaScript would write otherwise. Linear: digits are counted from the first of them. */
export const inexact = /\.\d*0(?!\d)|(?<!\d\.?)(?:\d\.?){16}|\.0{6}|\d[eE]|-0/;

/**
 * A value for `JSON.stringify`: numbers that would be written otherwise are not numbers in it.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return sourceJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? sourceJson.rawJSON(source)
      : value,
  );
}

/** A number of `parseExactly` as it was written; null: the value is another. */
export const textOfNumber = (value: object): string | null =>
  sourceJson.isRawJSON(value) ? value.rawJSON : null;

/** Numbers of `parseNoting` that would be written otherwise, by what holds them and their key there. */
const noted = new WeakMap<object, Map<string, string>>();

/**
 * As `JSON.parse`: numbers are numbers, and `writtenAs` knows how they were written.
 * @throws SyntaxError
 */
export function parseNoting(text: string): unknown {
  return sourceJson.parse(text, function (key, value, { source }) {
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
    const texts = noted.get(this) ?? new Map<string, string>();
    noted.set(this, texts.set(key, source));
    return value;
  });
}

/** JSON data as JSON, with the numbers that `parseNoting` noted and the order of names that `noteNames` did. */
export function writtenAs(data: unknown): string {
  if (typeof data !== 'object' || data === null) return JSON.stringify(data);
  const numbers = noted.get(data);
  const written = (key: string, each: unknown): string => numbers?.get(key) ?? writtenAs(each);
  if (Array.isArray(data)) return `[${data.map((each, index) => written(String(index), each)).join(',')}]`;
  const members = new Map(Object.entries(data));
  const texts = namesOf(data).map((name) => `${JSON.stringify(name)}:${written(name, members.get(name))}`);
  return `{${texts.join(',')}}`;
}
