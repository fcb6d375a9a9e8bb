// One value by a format specification: fill, alignment, sign, width, precision and the types d, f and s, which are what
// chat templates use. Python's other types are refused.

import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import { floatText, integerText, pythonText } from './python-text.js';
import { points } from './sequences.js';
import { Float, numberIn, textIn, typeName, type Value } from './values.js';

export interface FormatSpec {
  readonly fill: string;
  /** Empty: as the type has it. */
  readonly align: string;
  readonly sign: string;
  readonly width: number;
  readonly precision: number | null;
  readonly type: string;
}

const pattern = /^(?:(.)?([<>=^]))?([-+ ])?(0)?(\d+)?(?:\.(\d+))?([dfs])?$/su;

/** As `format(value, spec)` writes it. @throws TemplateError */
export function formatValue(value: Value, spec: string, meter: Meter): string {
  if (spec === '') return pythonText(value, meter);
  const parts = pattern.exec(spec);
  if (parts === null) throw new TemplateError(`Invalid format specifier '${spec}'`);
  const [, fill, align, sign = '-', zero, width = '0', precision, type = ''] = parts;
  const whole = {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align: align ?? (zero === undefined || textIn(value) !== undefined ? '' : '='),
    ...{ sign, width: Number(width), precision: precision === undefined ? null : Number(precision), type },
  };
  return written(value, whole, meter);
}

/** @throws TemplateError for a type of number or text that the value is not */
export function written(value: Value, spec: FormatSpec, meter: Meter): string {
  meter.chars(spec.width + (spec.precision ?? 0));
  const text = textIn(value);
  if (text !== undefined) {
    if (spec.type !== '' && spec.type !== 's') throw unknownCode(spec, value);
    const shown = spec.precision === null ? text : points(text, meter).slice(0, spec.precision);
    return padded('', typeof shown === 'string' ? shown : shown.join(''), spec, '<', meter);
  }
  const number = numberIn(value);
  if (number === undefined)
    throw new TemplateError(`unsupported format string passed to ${typeName(value)}.__format__`);
  const isNegative = number < 0 || Object.is(number, -0);
  const sign = isNegative ? '-' : spec.sign === '-' ? '' : spec.sign;
  return padded(sign, digitsOf(value, Math.abs(number), spec), spec, '>', meter);
}

function digitsOf(value: Value, size: number, spec: FormatSpec): string {
  const isFloat = value instanceof Float;
  if (spec.type === 'f') return fixed(size, spec.precision ?? 6);
  if (spec.precision !== null || spec.type === 's' || (isFloat && spec.type === 'd'))
    throw unknownCode(spec, value);
  return isFloat ? floatText(size) : integerText(size);
}

/** With so many digits behind the point; what lies halfway is rounded to the even digit, as Python does. */
function fixed(size: number, precision: number): string {
  if (!Number.isFinite(size)) return floatText(size);
  // toFixed takes at most 100 digits, and writes an exponent from 1e21 on.
  if (precision > 70 || size >= 1e21) throw new TemplateError('a number of more digits than templates write');
  const up = size.toFixed(precision);
  const exact = size.toFixed(precision + 30);
  const kept = exact.slice(0, exact.length - 30);
  const isHalfway = /^50*$/.test(exact.slice(-30));
  return isHalfway && /[02468]\.?$/.test(kept) ? kept.replace(/\.$/, '') : up;
}

function padded(
  sign: string,
  text: string,
  { fill, align, width }: FormatSpec,
  otherwise: string,
  meter: Meter,
): string {
  const missing = Math.max(0, width - points(sign + text, meter).length);
  const side = align === '' ? otherwise : align;
  if (side === '=') return sign + fill.repeat(missing) + text;
  const before = side === '>' ? missing : side === '^' ? Math.floor(missing / 2) : 0;
  return fill.repeat(before) + sign + text + fill.repeat(missing - before);
}

function unknownCode({ type }: FormatSpec, value: Value): TemplateError {
  return new TemplateError(`Unknown format code '${type}' for object of type '${typeName(value)}'`);
}
