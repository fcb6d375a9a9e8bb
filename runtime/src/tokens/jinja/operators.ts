// Python's arithmetic on a template's values.

import { integer } from './arguments.js';
import { elementsOf } from './comparisons.js';
import { TemplateError } from './errors.js';
import { escaped } from './markup.js';
import type { Meter } from './meter.js';
import type { BinaryOperator } from './nodes.js';
import { percentFormat } from './percent-format.js';
import { Float, Markup, Tuple, Undefined, numberIn, textIn, typeName, type Value } from './values.js';

/** @throws TemplateError for operands that Python does not take */
export function operate(operator: BinaryOperator, left: Value, right: Value, meter: Meter): Value {
  for (const each of [left, right]) if (each instanceof Undefined) each.fail();
  const [a, b] = [numberIn(left), numberIn(right)];
  if (a !== undefined && b !== undefined) {
    const isFloat = left instanceof Float || right instanceof Float;
    return isFloat ? new Float(onFloats(operator, a, b)) : onIntegers(operator, a, b);
  }
  const text = textIn(left);
  const result =
    operator === '+'
      ? add(left, right, meter)
      : operator === '*'
        ? (repeat(left, right, meter) ?? repeat(right, left, meter))
        : operator === '%' && text !== undefined
          ? percentFormat(left, right, meter)
          : undefined;
  if (result !== undefined) return result;
  throw new TemplateError(
    `unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );
}

export function negate(value: Value, operator: '+' | '-'): Value {
  if (value instanceof Undefined) value.fail();
  const number = numberIn(value);
  if (number === undefined)
    throw new TemplateError(`bad operand type for unary ${operator}: '${typeName(value)}'`);
  const result = operator === '-' ? -number : number;
  return value instanceof Float ? new Float(result) : result + 0;
}

function onFloats(operator: BinaryOperator, a: number, b: number): number {
  if ('//%'.includes(operator) && b === 0) throw new TemplateError('float division by zero');
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.floor(a / b);
    case '%':
      return modulo(a, b);
    case '**':
      return a ** b;
  }
}

function onIntegers(operator: BinaryOperator, a: number, b: number): Value {
  if (operator === '/' || (operator === '**' && b < 0)) return new Float(onFloats(operator, a, b));
  if ('//%'.includes(operator) && b === 0) throw new TemplateError('integer division or modulo by zero');
  const result = onFloats(operator, a, b);
  if (!Number.isSafeInteger(result)) throw new TemplateError('an integer of more than 53 bits');
  return result + 0;
}

/** Its sign is the divisor's. */
function modulo(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

function add(left: Value, right: Value, meter: Meter): Value | undefined {
  const [a, b] = [textIn(left), textIn(right)];
  if (a !== undefined && b !== undefined) {
    meter.chars(a.length + b.length);
    if (!(left instanceof Markup) && !(right instanceof Markup)) return a + b;
    return new Markup(escaped(left, meter).text + escaped(right, meter).text);
  }
  const both = elementsOf(left, right);
  if (both === undefined) return undefined;
  meter.elements(both[0].length + both[1].length);
  const sum = both.flat();
  return left instanceof Tuple ? new Tuple(sum) : sum;
}

function repeat(value: Value, times: Value, meter: Meter): Value | undefined {
  if (numberIn(times) === undefined || times instanceof Float) return undefined;
  const count = Math.max(0, integer(times));
  const text = textIn(value);
  if (text !== undefined) {
    meter.chars(text.length * count);
    if (text.length * count > 2 ** 28) throw new TemplateError('a text of more than 268435456 characters');
    return value instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count);
  }
  const items = Array.isArray(value)
    ? (value as readonly Value[])
    : value instanceof Tuple
      ? value.items
      : undefined;
  if (items === undefined) return undefined;
  meter.elements(Math.max(1, items.length) * count);
  const repeated = Array.from({ length: count }, () => items).flat();
  return value instanceof Tuple ? new Tuple(repeated) : repeated;
}
