// Filters that read a value as text.

import { bind, integer, string } from './arguments.js';
import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import { percentFormat } from './percent-format.js';
import * as python from './python-strings.js';
import { pythonText } from './python-text.js';
import type { Filter } from './runtime.js';
import { Dict, Markup, Tuple, Undefined, isTrue, textIn, typeName, type Value } from './values.js';

/** A filter of the text alone; markup stays markup. */
const plain =
  (name: string, change: (text: string) => string): Filter =>
  ({ meter }, of, args) => {
    bind(name, args, []);
    return likeIn(of, change(textOf(of, meter)));
  };

const likeIn = (of: Value, text: string): Value => (of instanceof Markup ? new Markup(text) : text);

function textOf(of: Value, meter: Meter): string {
  const text = pythonText(of, meter);
  meter.chars(text.length);
  return text;
}

const trim: Filter = ({ meter }, of, args) => {
  const [characters = null] = bind('trim', args, ['chars']);
  const set = characters === null ? null : string(characters);
  return likeIn(of, python.strip(textOf(of, meter), set, 'both'));
};

const title: Filter = ({ meter }, of, args) => {
  bind('title', args, []);
  const text = textOf(of, meter);
  meter.elements(text.length);
  return text
    .split(/([-\s({[<]+)/u)
    .map(python.capitalized)
    .join('');
};

const replace: Filter = ({ meter }, of, args) => {
  const [old = null, by = null, most = null] = bind('replace', args, ['old', 'new', 'count'], 2);
  const [text, from, to] = [textOf(of, meter), pythonText(old, meter), pythonText(by, meter)];
  return python.replace(text, from, to, most === null ? -1 : integer(most), meter);
};

const indent: Filter = ({ meter }, of, args) => {
  const [width = 4, isFirst = false, isBlank = false] = bind('indent', args, ['width', 'first', 'blank']);
  const text = textIn(of);
  if (of instanceof Undefined) of.fail();
  if (text === undefined) throw new TemplateError(`can only concatenate ${typeName(of)} to ${typeName(of)}`);
  const lines = python.lines(`${text}\n`, false);
  const size = textIn(width)?.length ?? integer(width);
  meter.elements(lines.length);
  meter.chars(text.length + (lines.length + 1) * Math.max(0, size));
  const by = textIn(width) ?? ' '.repeat(Math.max(0, size));
  const [first = '', ...rest] = lines;
  const indented = rest.map((line) => `\n${line === '' && !isTrue(isBlank) ? '' : by + line}`);
  return likeIn(of, (isTrue(isFirst) ? by : '') + first + indented.join(''));
};

const format: Filter = ({ meter }, of, { positional, named }) => {
  if (positional.length > 0 && named.size > 0)
    throw new TemplateError("can't handle positional and keyword arguments at the same time");
  const text = of instanceof Markup ? of : pythonText(of, meter);
  return percentFormat(text, named.size > 0 ? new Dict(named) : new Tuple(positional), meter);
};

export const textFilters: readonly (readonly [string, Filter])[] = [
  ['trim', trim],
  ['upper', plain('upper', (text) => text.toUpperCase())],
  ['lower', plain('lower', (text) => text.toLowerCase())],
  ['capitalize', plain('capitalize', python.capitalized)],
  ['title', title],
  ['replace', replace],
  ['indent', indent],
  ['format', format],
];
