// A value as text, as Python's str() and repr() give it: that is what models saw in training where a template prints a
// value, or makes a string of one.

import type { Meter } from './meter.js';
import { TemplateError } from './errors.js';
import {
  Callable,
  Dict,
  Float,
  Markup,
  Namespace,
  Range,
  Tuple,
  Undefined,
  View,
  typeName,
  type Value,
} from './values.js';

const maxDepth = 200;

/** As str() gives it. */
export function pythonText(value: Value, meter: Meter): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  return value instanceof Undefined ? '' : written(value, meter, 0);
}

/** As repr() gives it. */
export function pythonRepr(value: Value, meter: Meter): string {
  return written(value, meter, 0);
}

function written(value: Value, meter: Meter, depth: number): string {
  meter.spend();
  if (depth > maxDepth) throw new TemplateError('maximum recursion depth exceeded');
  const inner = (each: Value): string => written(each, meter, depth + 1);
  const list = (items: readonly Value[]): string => items.map(inner).join(', ');
  const pair = ([key, of]: readonly [Value, Value]): string => `${inner(key)}: ${inner(of)}`;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return integerText(value);
  if (typeof value === 'string') return quoted(value, meter);
  if (Array.isArray(value)) return `[${list(value)}]`;
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof Markup) return `Markup(${quoted(value.text, meter)})`;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Tuple) return `(${list(value.items)}${value.items.length === 1 ? ',' : ''})`;
  if (value instanceof View) return `${value.typeName}([${list(value.items)}])`;
  if (value instanceof Dict) return `{${Array.from(value.entries(), pair).join(', ')}}`;
  if (value instanceof Range) {
    const { start, stop, step } = value;
    return `range(${[start, stop, ...(step === 1 ? [] : [step])].join(', ')})`;
  }
  if (value instanceof Namespace) return `<Namespace {${Array.from(value.fields, pair).join(', ')}}>`;
  return value instanceof Callable ? `<function ${value.name}>` : `<${typeName(value)} object>`;
}

export function integerText(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

/** Python writes an exponent from 1e16 on and below 1e-4, with two digits at least. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  if (Object.is(value, -0)) return '-0.0';
  return Number.isInteger(value) ? `${String(value)}.0` : String(value);
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** In double quotes only if that spares it a backslash. */
function quoted(text: string, meter: Meter): string {
  meter.elements(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replace(quote === "'" ? /[\\']/g : /\\/g, '\\$&')
    .replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (each) => named[each] ?? byCode(each.codePointAt(0) ?? 0));
  return quote + escaped + quote;
}

function byCode(code: number): string {
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
