import { expect, test } from '@jest/globals';
import { JsonBounds } from './json-bounds.js';

const excess = (text: string): string | null => new JsonBounds().excessOf(Buffer.from(text));
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const members = (count: number): string => `{${Array.from({ length: count }, () => '"a":1').join(',')}}`;

test('levels and members have bounds', () => {
  expect(excess(nested(128))).toBeNull();
  expect(excess(nested(129))).toBe('is nested deeper than 128 levels');
  expect(excess(members(50_000))).toBeNull();
  expect(excess(members(50_001))).toBe('has more than 50000 members in its objects');
});

test('members of several texts count together', () => {
  const bounds = new JsonBounds();
  expect(bounds.excessOf(Buffer.from(members(30_000)))).toBeNull();
  expect(bounds.excessOf(Buffer.from(members(30_000)))).toMatch(/more than 50000 members/);
});

test('members of all objects count together, and what follows another does not nest', () => {
  expect(excess(`[${members(30_000)},${members(30_000)}]`)).toMatch(/more than 50000 members/);
  expect(excess(`[${Array.from({ length: 1000 }, () => '[]').join(',')}]`)).toBeNull();
});

test.each([
  ['brackets', '['.repeat(200)],
  ['colons', ':'.repeat(200_000)],
  ['quotes that are escaped', '\\"['.repeat(200)],
  ['letters beyond ASCII', 'ä∅🙂['.repeat(200)],
  ['a backslash at its end', `${'['.repeat(200)}\\\\`],
])('a text may hold %s', (_, text) => {
  expect(excess(`{"a":"${text}","b":1}`)).toBeNull();
});

test('lists and values have bounds, of several texts together', () => {
  const lists = (count: number): string => `[${Array.from({ length: count - 1 }, () => '[1]').join(',')}]`;
  expect(excess(lists(50_000))).toBeNull();
  expect(excess(lists(50_001))).toBe('has more than 50000 lists and objects');
  const values = (count: number): string => `[${Array.from({ length: count }, () => '1').join(',')}]`;
  expect(excess(values(2 ** 19))).toBeNull();
  expect(excess(values(2 ** 19 + 1))).toBe('has more than 524288 values');
  const bounds = new JsonBounds();
  expect(bounds.excessOf(Buffer.from(values(2 ** 18)))).toBeNull();
  expect(bounds.excessOf(Buffer.from(values(2 ** 18 + 2)))).toBe('has more than 524288 values');
});

test('strings have a bound, names among them', () => {
  const strings = (count: number): string => `[${Array.from({ length: count }, () => '""').join(',')}]`;
  expect(excess(strings(2 ** 17))).toBeNull();
  expect(excess(strings(2 ** 17 + 1))).toBe('has more than 131072 strings');
  expect(excess(`[{"a":1},${strings(2 ** 17)}]`)).toBe('has more than 131072 strings');
});

/** Of a text that is cut at every place, so that something is left of whatever stands there. */
test.each([
  ['a text with escapes', `{"a":"\\\\\\"[","b":"\\"}`],
  ['levels', nested(129)],
  ['strings with brackets', `{"a":"[[[","b":"]]]"}`],
])('%s in parts have the same bounds', (_, text) => {
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at++) {
    const steps = new JsonBounds().excessOfParts([bytes.subarray(0, at), bytes.subarray(at)]);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value).toBe(excess(text));
  }
});
