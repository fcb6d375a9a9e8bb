// Whether Python takes two of a template's values for equal: not a text and a number, but lists and dicts by what is in
// them.

import type { Value } from './python-text.js';

const numbers = new Set(['IntegerValue', 'FloatValue', 'BooleanValue']);

export function pythonEquals(left: Value, right: Value): boolean {
  if (numbers.has(left.type) && numbers.has(right.type)) return Number(left.value) === Number(right.value);
  if (left.type !== right.type) return false;
  if (left.type === 'ObjectValue') return sameEntries(left.value as Entries, right.value as Entries);
  return Array.isArray(left.value)
    ? sameElements(left.value as Elements, right.value as Elements)
    : left.value === right.value;
}

type Elements = readonly Value[];
type Entries = ReadonlyMap<string, Value>;

function sameElements(left: Elements, right: Elements): boolean {
  return left.length === right.length && left.every((each, i) => isSame(each, right[i]));
}

function sameEntries(left: Entries, right: Entries): boolean {
  return left.size === right.size && [...left].every(([name, each]) => isSame(each, right.get(name)));
}

const isSame = (left: Value, right: Value | undefined): boolean =>
  right !== undefined && pythonEquals(left, right);
