// Filters that pick or change each item, when it is asked for: what they give can be read once.

import { getterOf } from './attribute-path.js';
import { bind } from './arguments.js';
import { TemplateError } from './errors.js';
import type { Filter, Runtime } from './runtime.js';
import { itemsOf } from './sequences.js';
import { OneShot, isTrue, textIn, type Args, type Value } from './values.js';

function* mapped(runtime: Runtime, of: Value, args: Args): Generator<Value> {
  if (!isTrue(of)) return;
  const change = changeOf(runtime, args);
  for (const item of itemsOf(of, runtime.meter)) {
    runtime.meter.spend();
    yield change(item);
  }
}

function changeOf(runtime: Runtime, { positional, named }: Args): (item: Value) => Value {
  const [name, ...rest] = positional;
  if (name !== undefined)
    return (item) => runtime.filter(textIn(name) ?? '', item, { positional: rest, named });
  if (!named.has('attribute')) throw new TemplateError('map requires a filter argument');
  const [path = null, otherwise = null] = bind('map', { positional, named }, ['attribute', 'default']);
  return getterOf(path, runtime.meter, otherwise);
}

function* picked(
  runtime: Runtime,
  of: Value,
  args: Args,
  byAttribute: boolean,
  wanted: boolean,
): Generator<Value> {
  if (!isTrue(of)) return;
  const [path, ...others] = args.positional;
  if (byAttribute && path === undefined) throw new TemplateError('Missing parameter for attribute name');
  const read = getterOf(byAttribute ? (path ?? null) : null, runtime.meter);
  const [test, ...rest] = byAttribute ? others : args.positional;
  for (const item of itemsOf(of, runtime.meter)) {
    runtime.meter.spend();
    const value = read(item);
    const holds =
      test === undefined
        ? isTrue(value)
        : runtime.test(textIn(test) ?? '', value, { positional: rest, named: args.named });
    if (holds === wanted) yield item;
  }
}

const picking =
  (byAttribute: boolean, wanted: boolean): Filter =>
  (runtime, of, args) =>
    new OneShot(picked(runtime, of, args, byAttribute, wanted));

export const selectionFilters: readonly (readonly [string, Filter])[] = [
  ['map', (runtime, of, args) => new OneShot(mapped(runtime, of, args))],
  ['select', picking(false, true)],
  ['reject', picking(false, false)],
  ['selectattr', picking(true, true)],
  ['rejectattr', picking(true, false)],
];
