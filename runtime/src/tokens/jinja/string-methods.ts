// Methods of strings. Of markup they give markup, and escape what they put into it.

import { bind, integer, string } from './arguments.js';
import { TemplateError } from './errors.js';
import { escaped } from './markup.js';
import type { Meter } from './meter.js';
import * as python from './python-strings.js';
import { itemsOf, points, slice } from './sequences.js';
import { formatString } from './string-format.js';
import { Markup, Tuple, textIn, typeName, type Args, type Value } from './values.js';

export interface Receiver {
  readonly text: string;
  readonly isMarkup: boolean;
  readonly meter: Meter;
}
type Method = (of: Receiver, args: Args) => Value;

const marked =
  ({ isMarkup }: Receiver) =>
  (text: string): Value =>
    isMarkup ? new Markup(text) : text;

const allMarked = (of: Receiver, texts: readonly string[]): Value[] => {
  of.meter.elements(texts.length);
  return texts.map(marked(of));
};

/** A method without arguments. */
const plain =
  (name: string, change: (text: string) => string | boolean): Method =>
  (of, args) => {
    bind(name, args, []);
    of.meter.elements(of.text.length);
    const result = change(of.text);
    return typeof result === 'string' ? marked(of)(result) : result;
  };

const stripping =
  (name: string, sides: python.Sides): Method =>
  (of, args) => {
    const [characters = null] = bind(name, args, ['chars']);
    return marked(of)(python.strip(of.text, characters === null ? null : string(characters), sides));
  };

const splitting =
  (
    name: string,
    atSpace: (text: string, most: number) => string[],
    at: (text: string, separator: string, most: number) => string[],
  ): Method =>
  (of, args) => {
    const [separator = null, most = -1] = bind(name, args, ['sep', 'maxsplit']);
    if (separator === null) return allMarked(of, atSpace(of.text, integer(most)));
    if (string(separator) === '') throw new TemplateError('empty separator');
    return allMarked(of, at(of.text, string(separator), integer(most)));
  };

/** The part of the text between two indices, and where it starts. */
function within({ text, meter }: Receiver, start: Value, end: Value): { part: string; from: number } {
  if (start === null && end === null) return { part: text, from: 0 };
  const part = slice(text, { start, stop: end, step: null }, meter);
  const length = points(text, meter).length;
  const index = start === null ? 0 : integer(start);
  return { part: textIn(part) ?? '', from: index < 0 ? Math.max(0, index + length) : index };
}

const finding =
  (name: string, find: (text: string, part: string) => number, isRequired: boolean): Method =>
  (of, args) => {
    const [sought = null, start = null, end = null] = bind(name, args, ['sub', 'start', 'end'], 1);
    const { part, from } = within(of, start, end);
    const at = from > points(of.text, of.meter).length ? -1 : find(part, string(sought));
    if (at !== -1) return from + points(part.slice(0, at), of.meter).length;
    if (isRequired) throw new TemplateError('substring not found');
    return -1;
  };

const matching =
  (name: string, matches: (text: string, part: string) => boolean): Method =>
  (of, args) => {
    const [sought = null, start = null, end = null] = bind(name, args, ['prefix', 'start', 'end'], 1);
    const { part } = within(of, start, end);
    const any = sought instanceof Tuple ? sought.items : [sought];
    return any.some((each) => {
      if (textIn(each) === undefined)
        throw new TemplateError(`${name} first arg must be str or a tuple of str, not ${typeName(each)}`);
      return matches(part, string(each));
    });
  };

const partitioning =
  (
    name: string,
    find: (text: string, part: string) => number,
    otherwise: (text: string) => string[],
  ): Method =>
  (of, args) => {
    const separator = string(bind(name, args, ['sep'], 1)[0] ?? null);
    if (separator === '') throw new TemplateError('empty separator');
    const at = find(of.text, separator);
    const parts =
      at === -1
        ? otherwise(of.text)
        : [of.text.slice(0, at), separator, of.text.slice(at + separator.length)];
    return new Tuple(parts.map(marked(of)));
  };

const padding =
  (name: string, before: (missing: number, width: number) => number): Method =>
  (of, args) => {
    const [width = 0, fill = ' '] = bind(name, args, ['width', 'fillchar'], 1);
    const missing = Math.max(0, integer(width) - points(of.text, of.meter).length);
    if (points(string(fill), of.meter).length !== 1)
      throw new TemplateError('The fill character must be exactly one character long');
    of.meter.chars(missing);
    const left = before(missing, integer(width));
    return marked(of)(string(fill).repeat(left) + of.text + string(fill).repeat(missing - left));
  };

const isEvery =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);
const isCased = (text: string, same: string): boolean =>
  text === same && text.toUpperCase() !== text.toLowerCase();
/** Python puts the odd one before the text if the width is odd. */
export const centered = (missing: number, width: number): number =>
  Math.floor(missing / 2) + (missing & width & 1);

export const stringMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['upper', plain('upper', (text) => text.toUpperCase())],
  ['lower', plain('lower', (text) => text.toLowerCase())],
  ['title', plain('title', python.titled)],
  ['capitalize', plain('capitalize', python.capitalized)],
  ['swapcase', plain('swapcase', python.swappedCase)],
  ['isupper', plain('isupper', (text) => isCased(text, text.toUpperCase()))],
  ['islower', plain('islower', (text) => isCased(text, text.toLowerCase()))],
  ['isspace', plain('isspace', python.isSpace)],
  ['isdigit', plain('isdigit', isEvery(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089]+$/u))],
  ['isalpha', plain('isalpha', isEvery(/^\p{L}+$/u))],
  ['isalnum', plain('isalnum', isEvery(/^[\p{L}\p{N}]+$/u))],
  ['strip', stripping('strip', 'both')],
  ['lstrip', stripping('lstrip', 'left')],
  ['rstrip', stripping('rstrip', 'right')],
  ['split', splitting('split', python.splitAtSpace, python.split)],
  ['rsplit', splitting('rsplit', python.splitFromRightAtSpace, python.splitFromRight)],
  [
    'splitlines',
    (of, args) => {
      const [keepsEnds = false] = bind('splitlines', args, ['keepends']);
      return allMarked(of, python.lines(of.text, keepsEnds === true || keepsEnds === 1));
    },
  ],
  [
    'partition',
    partitioning(
      'partition',
      (text, part) => text.indexOf(part),
      (text) => [text, '', ''],
    ),
  ],
  [
    'rpartition',
    partitioning(
      'rpartition',
      (text, part) => text.lastIndexOf(part),
      (text) => ['', '', text],
    ),
  ],
  ['find', finding('find', (text, part) => text.indexOf(part), false)],
  ['rfind', finding('rfind', (text, part) => text.lastIndexOf(part), false)],
  ['index', finding('index', (text, part) => text.indexOf(part), true)],
  ['rindex', finding('rindex', (text, part) => text.lastIndexOf(part), true)],
  ['startswith', matching('startswith', (text, part) => text.startsWith(part))],
  ['endswith', matching('endswith', (text, part) => text.endsWith(part))],
  [
    'count',
    (of, args) => {
      const [sought = null, start = null, end = null] = bind('count', args, ['sub', 'start', 'end'], 1);
      const { part } = within(of, start, end);
      return string(sought) === ''
        ? points(part, of.meter).length + 1
        : part.split(string(sought)).length - 1;
    },
  ],
  [
    'replace',
    (of, args) => {
      const [old = null, by = null, most = -1] = bind('replace', args, ['old', 'new', 'count'], 2);
      const put = of.isMarkup ? escaped(by, of.meter).text : string(by);
      return marked(of)(python.replace(of.text, string(old), put, integer(most), of.meter));
    },
  ],
  [
    'join',
    (of, args) => {
      const [parts = null] = bind('join', args, ['iterable'], 1);
      const texts = itemsOf(parts, of.meter).map((each) =>
        of.isMarkup ? escaped(each, of.meter).text : string(each),
      );
      for (const each of texts) of.meter.chars(each.length + of.text.length);
      return marked(of)(texts.join(of.text));
    },
  ],
  [
    'removeprefix',
    (of, args) => {
      const prefix = string(bind('removeprefix', args, ['prefix'], 1)[0] ?? null);
      return marked(of)(of.text.startsWith(prefix) ? of.text.slice(prefix.length) : of.text);
    },
  ],
  [
    'removesuffix',
    (of, args) => {
      const suffix = string(bind('removesuffix', args, ['suffix'], 1)[0] ?? null);
      return marked(of)(
        of.text.endsWith(suffix) ? of.text.slice(0, of.text.length - suffix.length) : of.text,
      );
    },
  ],
  ['center', padding('center', centered)],
  ['ljust', padding('ljust', () => 0)],
  ['rjust', padding('rjust', (missing) => missing)],
  [
    'zfill',
    (of, args) => {
      const [width = 0] = bind('zfill', args, ['width'], 1);
      const missing = Math.max(0, integer(width) - points(of.text, of.meter).length);
      of.meter.chars(missing);
      const sign = /^[+-]/.exec(of.text)?.[0] ?? '';
      return marked(of)(sign + '0'.repeat(missing) + of.text.slice(sign.length));
    },
  ],
  [
    'format',
    (of, { positional, named }) => {
      const put = (each: Value): Value =>
        of.isMarkup && textIn(each) !== undefined ? escaped(each, of.meter).text : each;
      const args = {
        positional: positional.map(put),
        named: new Map(Array.from(named, ([name, each]) => [name, put(each)] as const)),
      };
      return marked(of)(formatString(of.text, args, of.meter));
    },
  ],
]);
