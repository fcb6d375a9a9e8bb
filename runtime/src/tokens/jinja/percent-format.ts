// Python's % operator on a text: %s, %r, %d and %f with flags, width and precision, by position or by name.

import { TemplateError } from './errors.js';
import { written } from './format-spec.js';
import { escaped } from './markup.js';
import type { Meter } from './meter.js';
import { pythonRepr, pythonText } from './python-text.js';
import { Dict, Float, Markup, Tuple, numberIn, textIn, typeName, type Value } from './values.js';

const conversions = /%(?:\(([^)]*)\))?([-+ 0]*)(\d+)?(?:\.(\d*))?([difrs%])?/g;

/** @throws TemplateError as Python raises it */
export function percentFormat(format: Value, given: Value, meter: Meter): Value {
  const text = textIn(format) ?? '';
  meter.chars(text.length);
  const rest = given instanceof Tuple ? [...given.items] : [given];
  const take = (): Value => {
    const value = rest.shift();
    if (value === undefined) throw new TemplateError('not enough arguments for format string');
    return value;
  };
  const result = text.replaceAll(
    conversions,
    (_, name?: string, flags?: string, width = '0', precision?: string, type?: string) => {
      meter.spend();
      if (type === undefined) throw new TemplateError('unsupported format character');
      if (type === '%') return '%';
      const value = name === undefined ? take() : fieldOf(given, name);
      const size = { width: Number(width), precision: precision === undefined ? null : Number(precision) };
      const part = convert(
        value,
        { flags: flags ?? '', type, ...size, isMarkup: format instanceof Markup },
        meter,
      );
      meter.chars(part.length);
      return part;
    },
  );
  if (rest.length > 0 && !(given instanceof Dict))
    throw new TemplateError('not all arguments converted during string formatting');
  return format instanceof Markup ? new Markup(result) : result;
}

function fieldOf(given: Value, name: string): Value {
  if (!(given instanceof Dict)) throw new TemplateError('format requires a mapping');
  const value = given.get(name);
  if (value === undefined) throw new TemplateError(`'${name}'`);
  return value;
}

interface Conversion {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | null;
  readonly type: string;
  readonly isMarkup: boolean;
}

function convert(
  value: Value,
  { flags, width, precision, type, isMarkup }: Conversion,
  meter: Meter,
): string {
  const isLeft = flags.includes('-');
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '-';
  if (type === 's' || type === 'r') {
    const plain = type === 's' ? pythonText(value, meter) : pythonRepr(value, meter);
    const text = isMarkup ? escaped(type === 's' ? value : plain, meter).text : plain;
    return written(text, { fill: ' ', align: isLeft ? '<' : '>', sign, width, precision, type: 's' }, meter);
  }
  const number = numberIn(value);
  if (number === undefined)
    throw new TemplateError(`%${type} format: a real number is required, not ${typeName(value)}`);
  const isZeroed = flags.includes('0') && !isLeft;
  const spec = { fill: isZeroed ? '0' : ' ', align: isZeroed ? '=' : isLeft ? '<' : '>', sign, width };
  if (type === 'f') return written(new Float(number), { ...spec, precision, type }, meter);
  return written(Math.trunc(number), { ...spec, precision: null, type: 'd' }, meter);
}
