// Whether Python takes two values for equal, which comes first, and what holds what.

import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import { isIterable, itemsOf } from './sequences.js';
import {
  Dict,
  Range,
  Tuple,
  Undefined,
  View,
  hashOf,
  numberIn,
  textIn,
  typeName,
  type Value,
} from './values.js';

const maxDepth = 200;

export function isEqual(left: Value, right: Value, meter: Meter, depth = 0): boolean {
  meter.spend();
  if (left === right) return true;
  if (depth > maxDepth) throw new TemplateError('maximum recursion depth exceeded');
  const [number, other] = [numberIn(left), numberIn(right)];
  if (number !== undefined || other !== undefined) return number === other;
  const [text, otherText] = [textIn(left), textIn(right)];
  if (text !== undefined || otherText !== undefined) {
    meter.chars(text?.length ?? 0);
    return text === otherText;
  }
  if (left instanceof Undefined) return right instanceof Undefined;
  const same = (each: Value, i: number, of: readonly Value[]): boolean =>
    isEqual(each, of[i] as Value, meter, depth + 1);
  const elements = elementsOf(left, right);
  if (elements !== undefined) {
    const [ours, theirs] = elements;
    return ours.length === theirs.length && ours.every((each, i) => same(each, i, theirs));
  }
  if (!(left instanceof Dict && right instanceof Dict) || left.size !== right.size) return false;
  return Array.from(left.entries()).every(([key, value]) => {
    const theirs = right.get(key);
    return theirs !== undefined && isEqual(value, theirs, meter, depth + 1);
  });
}

/** Of two lists, or of two tuples; absent: they are something else. */
export function elementsOf(left: Value, right: Value): [readonly Value[], readonly Value[]] | undefined {
  if (Array.isArray(left) && Array.isArray(right))
    return [left as readonly Value[], right as readonly Value[]];
  if (left instanceof Tuple && right instanceof Tuple) return [left.items, right.items];
  return undefined;
}

/** Negative: the left one comes first. @throws TemplateError for values without an order */
export function compare(left: Value, right: Value, meter: Meter): number {
  meter.spend();
  for (const each of [left, right]) if (each instanceof Undefined) each.fail();
  const [number, other] = [numberIn(left), numberIn(right)];
  if (number !== undefined && other !== undefined) return Math.sign(number - other);
  const [text, otherText] = [textIn(left), textIn(right)];
  if (text !== undefined && otherText !== undefined) {
    meter.chars(Math.min(text.length, otherText.length));
    return compareTexts(text, otherText);
  }
  const elements = elementsOf(left, right);
  if (elements === undefined)
    throw new TemplateError(
      `'<' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`,
    );
  const [ours, theirs] = elements;
  for (const [i, each] of ours.entries()) {
    const against = theirs[i];
    if (against === undefined) return 1;
    if (!isEqual(each, against, meter)) return compare(each, against, meter);
  }
  return Math.sign(ours.length - theirs.length);
}

/** By code points: pairs of surrogates come after all other units. */
function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    if (left.charCodeAt(i) !== right.charCodeAt(i))
      return (left.codePointAt(i) ?? 0) - (right.codePointAt(i) ?? 0);
  }
  return left.length - right.length;
}

/** As `item in container` gives it. */
export function contains(container: Value, item: Value, meter: Meter): boolean {
  const text = textIn(container);
  if (text !== undefined) {
    const part = textIn(item);
    if (item instanceof Undefined) return item.fail();
    if (part === undefined)
      throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    meter.chars(text.length);
    return text.includes(part);
  }
  if (container instanceof Dict) {
    hashOf(item);
    return container.get(item) !== undefined;
  }
  if (!isIterable(container))
    throw new TemplateError(`argument of type '${typeName(container)}' is not iterable`);
  if (container instanceof View && container.typeName === 'dict_keys') hashOf(item);
  if (container instanceof Range && numberIn(item) === undefined) return false;
  return itemsOf(container, meter).some((each) => isEqual(each, item, meter));
}
