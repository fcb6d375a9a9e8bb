// Filters of sequences and dicts: order, groups, sums, the first and the last.

import { getterOf, withoutCase } from './attribute-path.js';
import { bind, integer } from './arguments.js';
import { compare } from './comparisons.js';
import { itemsOfDict } from './collection-methods.js';
import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import { operate } from './operators.js';
import { pythonText } from './python-text.js';
import type { Filter } from './runtime.js';
import { itemsOf, lengthOf, points } from './sequences.js';
import {
  Dict,
  Markup,
  OneShot,
  Tuple,
  Undefined,
  hashOf,
  isTrue,
  present,
  textIn,
  typeName,
  type Args,
  type Value,
} from './values.js';

/** A group of `groupby`. */
class Group extends Tuple {
  override attribute(name: string): Value | undefined {
    return { grouper: this.items[0], list: this.items[1] }[name];
  }
}

function keyOf(path: Value, heedsCase: Value, meter: Meter, otherwise: Value = null): (of: Value) => Value {
  const read = getterOf(path, meter, otherwise);
  return isTrue(heedsCase) ? read : (of) => withoutCase(read(of), meter);
}

function sorted(
  items: readonly Value[],
  key: (of: Value) => Value,
  isReversed: boolean,
  meter: Meter,
): Value[] {
  const keyed = items.map((item) => [key(item), item] as const);
  const sign = isReversed ? -1 : 1;
  return keyed.sort(([left], [right]) => sign * compare(left, right, meter)).map(([, item]) => item);
}

const sort: Filter = ({ meter }, of, args) => {
  const names = ['reverse', 'case_sensitive', 'attribute'];
  const [isReversed = false, heedsCase = false, attribute = null] = bind('sort', args, names);
  const paths = textIn(attribute)?.split(',') ?? [attribute];
  const keys = paths.map((path) => keyOf(path, heedsCase, meter));
  return sorted(itemsOf(of, meter), (item) => keys.map((key) => key(item)), isTrue(isReversed), meter);
};

const dictsort: Filter = ({ meter }, of, args) => {
  const names = ['case_sensitive', 'by', 'reverse'];
  const [heedsCase = false, by = 'key', isReversed = false] = bind('dictsort', args, names);
  if (by !== 'key' && by !== 'value') throw new TemplateError('You can only sort by either "key" or "value"');
  if (!(of instanceof Dict)) throw new TemplateError(`'${typeName(of)}' has no items`);
  return sorted(itemsOfDict(of), keyOf(by === 'key' ? 0 : 1, heedsCase, meter), isTrue(isReversed), meter);
};

function* distinct(of: Value, key: (item: Value) => Value, meter: Meter): Generator<Value> {
  const seen = new Set<unknown>();
  for (const item of itemsOf(of, meter)) {
    const hash = hashOf(key(item));
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield item;
  }
}

const unique: Filter = ({ meter }, of, args) => {
  const [heedsCase = false, attribute = null] = bind('unique', args, ['case_sensitive', 'attribute']);
  return new OneShot(distinct(of, keyOf(attribute, heedsCase, meter), meter));
};

const extreme =
  (name: string, sign: 1 | -1): Filter =>
  ({ meter }, of, args) => {
    const [heedsCase = false, attribute = null] = bind(name, args, ['case_sensitive', 'attribute']);
    const key = keyOf(attribute, heedsCase, meter);
    const [first, ...rest] = itemsOf(of, meter);
    if (first === undefined) return new Undefined('No aggregated item, sequence was empty.');
    return rest.reduce(
      (best, each) => (sign * compare(key(each), key(best), meter) < 0 ? each : best),
      first,
    );
  };

const sum: Filter = ({ meter }, of, args) => {
  const [attribute = null, start = 0] = bind('sum', args, ['attribute', 'start']);
  if (textIn(start) !== undefined)
    throw new TemplateError("sum() can't sum strings [use ''.join(seq) instead]");
  const read = getterOf(attribute, meter);
  return itemsOf(of, meter).reduce<Value>((total, each) => operate('+', total, read(each), meter), start);
};

const groupby: Filter = ({ meter }, of, args) => {
  const names = ['attribute', 'default', 'case_sensitive'];
  const [attribute = null, otherwise = null, heedsCase = false] = bind('groupby', args, names, 1);
  const key = keyOf(attribute, heedsCase, meter, otherwise);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted(itemsOf(of, meter), key, false, meter)) {
    const last = groups.at(-1);
    if (last !== undefined && compare(last.key, key(item), meter) === 0) last.items.push(item);
    else groups.push({ key: key(item), items: [item] });
  }
  const read = getterOf(attribute, meter, otherwise);
  return groups.map(({ items }) => new Group([read(items[0] ?? null), items]));
};

const batch: Filter = ({ meter }, of, args) => {
  const [count = null, fill = null] = bind('batch', args, ['linecount', 'fill_with'], 1);
  const size = integer(count);
  const items = itemsOf(of, meter);
  const batches: Value[][] = [];
  for (const item of items) {
    const last = batches.at(-1);
    if (last === undefined || last.length === size) batches.push([item]);
    else last.push(item);
  }
  const last = batches.at(-1);
  meter.elements(Math.max(0, size));
  while (last !== undefined && fill !== null && last.length < size) last.push(fill);
  return new OneShot(batches);
};

const reverse: Filter = ({ meter }, of, args) => {
  bind('reverse', args, []);
  const text = textIn(of);
  if (text !== undefined) {
    const reversed = Array.from(points(text, meter)).reverse().join('');
    return of instanceof Markup ? new Markup(reversed) : reversed;
  }
  const items = Array.from(itemsOf(of, meter)).reverse();
  return of instanceof OneShot ? items : new OneShot(items);
};

const join: Filter = ({ meter }, of, args) => {
  const [separator = '', attribute = null] = bind('join', args, ['d', 'attribute']);
  const read = getterOf(attribute, meter);
  const by = pythonText(separator, meter);
  const texts = itemsOf(of, meter).map((each) => pythonText(read(each), meter));
  for (const each of texts) meter.chars(each.length + by.length);
  return texts.join(by);
};

const length: Filter = ({ meter }, of, args) => {
  bind('length', args, []);
  const count = lengthOf(of, meter);
  if (count === undefined) throw new TemplateError(`object of type '${typeName(of)}' has no len()`);
  return count;
};

const last: Filter = ({ meter }, of, args) => {
  bind('last', args, []);
  if (of instanceof OneShot) throw new TemplateError("'generator' object is not reversible");
  const item = itemsOf(of, meter).at(-1);
  return present(item, () => new Undefined('No last item, sequence was empty.'));
};

const first: Filter = ({ meter }, of, args) => {
  bind('first', args, []);
  const item = of instanceof OneShot ? of.next() : itemsOf(of, meter)[0];
  return present(item, () => new Undefined('No first item, sequence was empty.'));
};

const items: Filter = (_, of, args) => {
  bind('items', args, []);
  if (of instanceof Undefined) return new OneShot([]);
  if (!(of instanceof Dict)) throw new TemplateError('Can only get item pairs from a mapping.');
  return new OneShot(itemsOfDict(of));
};

const list: Filter = ({ meter }, of, args: Args) => {
  bind('list', args, []);
  return itemsOf(of, meter);
};

export const sequenceFilters: readonly (readonly [string, Filter])[] = [
  ...(['length', 'count'] as const).map((name) => [name, length] as const),
  ['first', first],
  ['last', last],
  ['list', list],
  ['items', items],
  ['join', join],
  ['reverse', reverse],
  ['sort', sort],
  ['dictsort', dictsort],
  ['unique', unique],
  ['min', extreme('min', 1)],
  ['max', extreme('max', -1)],
  ['sum', sum],
  ['groupby', groupby],
  ['batch', batch],
];
