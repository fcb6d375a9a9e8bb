// Filters of single values: numbers, defaults, JSON, markup.

import { bind } from './arguments.js';
import { TemplateError } from './errors.js';
import { toJson } from './json.js';
import { escaped } from './markup.js';
import { pythonText } from './python-text.js';
import { strip } from './python-strings.js';
import type { Filter } from './runtime.js';
import { Float, Markup, Undefined, isTrue, numberIn, textIn, typeName, type Value } from './values.js';

const otherwise: Filter = (_, of, args) => {
  const [instead = '', isForFalse = false] = bind('default', args, ['default_value', 'boolean']);
  return of instanceof Undefined || (isTrue(isForFalse) && !isTrue(of)) ? instead : of;
};

/** As float() reads it; absent: it is no number. */
function floatFrom(value: Value): number | undefined {
  const number = numberIn(value);
  const text = textIn(value);
  if (number !== undefined || text === undefined) return number;
  const plain = strip(text, null, 'both')
    .replaceAll(/(?<=\d)_(?=\d)/g, '')
    .toLowerCase();
  if (/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/.test(plain)) return Number(plain);
  const [, sign, word] = /^([+-]?)(inf(?:inity)?|nan)$/.exec(plain) ?? [];
  if (word === undefined) return undefined;
  return word === 'nan' ? NaN : sign === '-' ? -Infinity : Infinity;
}

const int: Filter = ({ meter }, of, args) => {
  const [instead = 0] = bind('int', args, ['default']);
  if (of instanceof Undefined) return of.fail();
  meter.chars(textIn(of)?.length ?? 0);
  const number = floatFrom(of);
  return number === undefined || !Number.isFinite(number) ? instead : Math.trunc(number) + 0;
};

const float: Filter = ({ meter }, of, args) => {
  const [instead = new Float(0)] = bind('float', args, ['default']);
  if (of instanceof Undefined) return of.fail();
  meter.chars(textIn(of)?.length ?? 0);
  const number = floatFrom(of);
  return number === undefined ? instead : new Float(number);
};

const abs: Filter = (_, of, args) => {
  bind('abs', args, []);
  const number = numberIn(of);
  if (number === undefined) throw new TemplateError(`bad operand type for abs(): '${typeName(of)}'`);
  return of instanceof Float ? new Float(Math.abs(number)) : Math.abs(number);
};

const escape: Filter = ({ meter }, of) => escaped(of, meter);

const stringOf: Filter = ({ meter }, of, args) => {
  bind('string', args, []);
  return of instanceof Markup ? of : pythonText(of, meter);
};

export const valueFilters: readonly (readonly [string, Filter])[] = [
  ...(['default', 'd'] as const).map((name) => [name, otherwise] as const),
  ['int', int],
  ['float', float],
  ['abs', abs],
  ['string', stringOf],
  ['tojson', ({ meter }, of, args) => toJson(of, args, meter)],
  ['safe', ({ meter }, of) => (of instanceof Markup ? of : new Markup(pythonText(of, meter)))],
  ...(['escape', 'e'] as const).map((name) => [name, escape] as const),
];
