// Jinja's tests: what stands after `is`.

import { bind, integer } from './arguments.js';
import { compare, contains, isEqual } from './comparisons.js';
import { TemplateError } from './errors.js';
import { pythonText } from './python-text.js';
import type { Runtime, Test } from './runtime.js';
import { isIterable, isSequence } from './sequences.js';
import { Callable, Dict, Float, Undefined, numberIn, textIn, type Value } from './values.js';

/** A test of the value alone. */
const of =
  (name: string, test: (value: Value, runtime: Runtime) => boolean): Test =>
  (runtime, value, args) => {
    bind(name, args, []);
    return test(value, runtime);
  };

/** A test of the value against another. */
const against =
  (name: string, test: (value: Value, other: Value, runtime: Runtime) => boolean): Test =>
  (runtime, value, args) => {
    const [other = null] = bind(name, args, ['other'], 1);
    return test(value, other, runtime);
  };

const orders = (holds: (order: number) => boolean): Test =>
  against('compare', (value, other, { meter }) => holds(compare(value, other, meter)));

const equal = against('eq', (value, other, { meter }) => isEqual(value, other, meter));
const unequal = against('ne', (value, other, { meter }) => !isEqual(value, other, meter));
const [less, atMost, greater, atLeast] = [
  orders((order) => order < 0),
  orders((order) => order <= 0),
  orders((order) => order > 0),
  orders((order) => order >= 0),
];

function remainder(value: Value, by: Value): number {
  const number = numberIn(value);
  if (value instanceof Undefined) value.fail();
  if (number === undefined || numberIn(by) === 0) throw new TemplateError('not a number that can be divided');
  const divisor = by instanceof Float ? by.value : integer(by);
  return ((number % divisor) + divisor) % divisor;
}

/** Python keeps one object for each of these. */
const isSame = (value: Value, other: Value): boolean =>
  value === other || (textIn(value) === '' && textIn(other) === '');

const cased = (change: (text: string) => string): Test =>
  of('case', (value, { meter }) => {
    const text = pythonText(value, meter);
    return text === change(text) && text.toUpperCase() !== text.toLowerCase();
  });

export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['defined', of('defined', (value) => !(value instanceof Undefined))],
  ['undefined', of('undefined', (value) => value instanceof Undefined)],
  ['none', of('none', (value) => value === null)],
  ['boolean', of('boolean', (value) => typeof value === 'boolean')],
  ['true', of('true', (value) => value === true)],
  ['false', of('false', (value) => value === false)],
  ['integer', of('integer', (value) => typeof value === 'number')],
  ['float', of('float', (value) => value instanceof Float)],
  ['number', of('number', (value) => numberIn(value) !== undefined)],
  ['string', of('string', (value) => textIn(value) !== undefined)],
  ['mapping', of('mapping', (value) => value instanceof Dict)],
  ['iterable', of('iterable', isIterable)],
  ['sequence', of('sequence', (value, { meter }) => isSequence(value, meter))],
  ['callable', of('callable', (value) => value instanceof Callable || value instanceof Undefined)],
  ['odd', of('odd', (value) => remainder(value, 2) === 1)],
  ['even', of('even', (value) => remainder(value, 2) === 0)],
  ['divisibleby', against('divisibleby', (value, by) => remainder(value, by) === 0)],
  ['lower', cased((text) => text.toLowerCase())],
  ['upper', cased((text) => text.toUpperCase())],
  ['sameas', against('sameas', isSame)],
  ['in', against('in', (value, container, { meter }) => contains(container, value, meter))],
  ...(['eq', '==', 'equalto'] as const).map((name) => [name, equal] as const),
  ...(['ne', '!='] as const).map((name) => [name, unequal] as const),
  ...(['lt', '<', 'lessthan'] as const).map((name) => [name, less] as const),
  ...(['le', '<='] as const).map((name) => [name, atMost] as const),
  ...(['gt', '>', 'greaterthan'] as const).map((name) => [name, greater] as const),
  ...(['ge', '>='] as const).map((name) => [name, atLeast] as const),
]);
