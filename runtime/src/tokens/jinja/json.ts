// A value as JSON, as Python's json.dumps() writes it: the filter `tojson` of transformers.

import { bind, integer, string } from './arguments.js';
import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import { floatText, integerText } from './python-text.js';
import { itemsOf } from './sequences.js';
import { compare } from './comparisons.js';
import { Dict, Float, Tuple, isTrue, numberIn, textIn, typeName, type Args, type Value } from './values.js';

const maxDepth = 200;

interface Style {
  readonly isAscii: boolean;
  /** What each level is indented with; null: all on one line. */
  readonly indent: string | null;
  readonly item: string;
  readonly key: string;
  readonly isSorted: boolean;
}

/** @throws TemplateError for what JSON has not, such as undefined */
export function toJson(value: Value, args: Args, meter: Meter): string {
  const names = ['ensure_ascii', 'indent', 'separators', 'sort_keys'];
  const [isAscii = false, indent = null, separators = null, isSorted = false] = bind('tojson', args, names);
  const [item = null, key = null] = separators === null ? [] : itemsOf(separators, meter);
  const step = indent === null ? null : (textIn(indent) ?? ' '.repeat(stepOf(indent, meter)));
  const style = {
    isAscii: isTrue(isAscii),
    indent: step,
    item: item === null ? (step === null ? ', ' : ',') : string(item),
    key: key === null ? ': ' : string(key),
    isSorted: isTrue(isSorted),
  };
  return write(value, style, meter, 0);
}

function stepOf(indent: Value, meter: Meter): number {
  const step = Math.max(0, integer(indent));
  meter.chars(step);
  return step;
}

function write(value: Value, style: Style, meter: Meter, depth: number): string {
  meter.spend();
  if (depth > maxDepth) throw new TemplateError('maximum recursion depth exceeded');
  const text = textIn(value);
  if (text !== undefined) return quoted(text, style, meter);
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return integerText(value);
  if (value instanceof Float) return numberText(value.value);
  const inner = (each: Value): string => write(each, style, meter, depth + 1);
  if (Array.isArray(value))
    return enclosed('[]', (value as readonly Value[]).map(inner), style, meter, depth);
  if (value instanceof Tuple) return enclosed('[]', value.items.map(inner), style, meter, depth);
  if (!(value instanceof Dict))
    throw new TemplateError(`Object of type ${typeName(value)} is not JSON serializable`);
  const entries = Array.from(value.entries());
  if (style.isSorted) entries.sort(([left], [right]) => compare(left, right, meter));
  const pairs = entries.map(([key, each]) => quoted(keyText(key), style, meter) + style.key + inner(each));
  return enclosed('{}', pairs, style, meter, depth);
}

function enclosed(
  brackets: string,
  parts: readonly string[],
  style: Style,
  meter: Meter,
  depth: number,
): string {
  const [open = '', close = ''] = brackets;
  if (parts.length === 0) return brackets;
  if (style.indent === null) {
    for (const each of parts) meter.chars(each.length + style.item.length);
    return open + parts.join(style.item) + close;
  }
  meter.chars((parts.length + 1) * (depth + 1) * style.indent.length);
  const line = `\n${style.indent.repeat(depth + 1)}`;
  return open + line + parts.join(style.item + line) + `\n${style.indent.repeat(depth)}` + close;
}

function keyText(key: Value): string {
  const text = textIn(key);
  if (text !== undefined) return text;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  const number = numberIn(key);
  if (number === undefined)
    throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  return key instanceof Float ? numberText(number) : integerText(number);
}

const numberText = (number: number): string =>
  Number.isNaN(number) ? 'NaN' : floatText(number).replace('inf', 'Infinity');

function quoted(text: string, { isAscii }: Style, meter: Meter): string {
  meter.chars(text.length);
  const json = JSON.stringify(text);
  // Python writes lone surrogates as they are.
  const plain = isAscii
    ? json
    : json.replaceAll(/\\u(d[89a-f][\da-f]{2})/g, (_, code: string) =>
        String.fromCharCode(parseInt(code, 16)),
      );
  const escape = (each: string): string => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return isAscii ? plain.replaceAll(/[\x7f-\uffff]/g, escape) : plain;
}
