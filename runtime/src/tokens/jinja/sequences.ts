// Sequences as Python reads them: strings by code points, indices from the end, slices.

import { integer } from './arguments.js';
import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import {
  Dict,
  Markup,
  OneShot,
  Range,
  Tuple,
  Undefined,
  View,
  textIn,
  typeName,
  type Value,
} from './values.js';

const surrogate = /[\ud800-\udfff]/;

/** The code points of a text, to be counted and indexed. */
export function points(text: string, meter: Meter): readonly string[] | string {
  meter.chars(text.length);
  return surrogate.test(text) ? Array.from(text) : text;
}

/** All items of an iterable. @throws TemplateError when it is none */
export function itemsOf(value: Value, meter: Meter): readonly Value[] {
  const items = itemsIn(value);
  if (items === undefined) throw new TemplateError(`'${typeName(value)}' object is not iterable`);
  if (value instanceof Range) meter.elements(value.length);
  const list = items();
  meter.elements(list.length);
  return list;
}

export function isIterable(value: Value): boolean {
  return itemsIn(value) !== undefined;
}

function itemsIn(value: Value): (() => readonly Value[]) | undefined {
  const text = textIn(value);
  if (text !== undefined) return () => Array.from(text);
  if (Array.isArray(value)) return () => value as readonly Value[];
  if (value instanceof Tuple || value instanceof View) return () => value.items;
  if (value instanceof Dict) return () => value.keys();
  if (value instanceof Undefined) return () => [];
  if (value instanceof Range) return () => Array.from({ length: value.length }, (_, i) => value.at(i));
  return value instanceof OneShot ? () => value.rest() : undefined;
}

/** As len() gives it; absent: the value has no length. */
export function lengthOf(value: Value, meter: Meter): number | undefined {
  const text = textIn(value);
  if (text !== undefined) return points(text, meter).length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple || value instanceof View) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof Range) return value.length;
  return value instanceof Undefined ? 0 : undefined;
}

/** An element by its index, which may count from the end; absent: there is none. */
export function elementAt(value: Value, index: number, meter: Meter): Value | undefined {
  const text = textIn(value);
  if (text !== undefined) {
    const element = at(points(text, meter), index);
    return element !== undefined && value instanceof Markup ? new Markup(element) : element;
  }
  if (Array.isArray(value)) return at(value as readonly Value[], index);
  if (value instanceof Tuple) return at(value.items, index);
  if (!(value instanceof Range)) return undefined;
  const from = index < 0 ? index + value.length : index;
  return from >= 0 && from < value.length ? value.at(from) : undefined;
}

function at<T>(
  items: { readonly length: number; readonly [index: number]: T },
  index: number,
): T | undefined {
  return items[index < 0 ? index + items.length : index];
}

export interface Bounds {
  readonly start: Value;
  readonly stop: Value;
  readonly step: Value;
}

/** @throws TemplateError for what cannot be sliced; absent: it has no elements by index */
export function slice(value: Value, { start, stop, step: by }: Bounds, meter: Meter): Value | undefined {
  const step = by === null ? 1 : integer(by);
  if (step === 0) throw new TemplateError('slice step cannot be zero');
  const cut = (length: number): [from: number, to: number] => {
    const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
    const bound = (given: Value, otherwise: number): number => {
      if (given === null) return otherwise;
      const index = integer(given);
      return index < 0 ? Math.max(index + length, least) : Math.min(index, most);
    };
    return step > 0 ? [bound(start, 0), bound(stop, length)] : [bound(start, most), bound(stop, -1)];
  };
  const pick = <T>(items: readonly T[]): T[] => {
    const [from, to] = cut(items.length);
    meter.elements(Math.abs(to - from));
    if (step === 1) return items.slice(from, to);
    const picked: T[] = [];
    for (let i = from; step > 0 ? i < to : i > to; i += step) picked.push(items[i] as T);
    return picked;
  };
  const text = textIn(value);
  if (text !== undefined) {
    const part = pick(Array.from(points(text, meter))).join('');
    return value instanceof Markup ? new Markup(part) : part;
  }
  if (Array.isArray(value)) return pick(value as readonly Value[]);
  if (value instanceof Tuple) return new Tuple(pick(value.items));
  if (!(value instanceof Range)) return undefined;
  const [from, to] = cut(value.length);
  return new Range(value.at(from), value.at(to), value.step * step);
}

/** Of those with a length all but views, which have no indices. */
export function isSequence(value: Value, meter: Meter): boolean {
  return lengthOf(value, meter) !== undefined && !(value instanceof View);
}
