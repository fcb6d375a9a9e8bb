// Methods of dicts, lists and tuples. Those that change a value are not there: the sandbox of the reference refuses them.

import { bind } from './arguments.js';
import { isEqual } from './comparisons.js';
import { TemplateError } from './errors.js';
import type { Meter } from './meter.js';
import type { Dict } from './values.js';
import { Tuple, View, present, type Args, type Value } from './values.js';

type DictMethod = (of: Dict, args: Args) => Value;
type ListMethod = (items: readonly Value[], args: Args, meter: Meter) => Value;

export const itemsOfDict = (of: Dict): Tuple[] => Array.from(of.entries(), (entry) => new Tuple(entry));

/** A method without arguments. */
const plain =
  (name: string, read: (of: Dict) => Value): DictMethod =>
  (of, args) => {
    bind(name, args, []);
    return read(of);
  };

export const dictMethods: ReadonlyMap<string, DictMethod> = new Map<string, DictMethod>([
  [
    'get',
    (of, args) => {
      const [key = null, otherwise = null] = bind('get', args, ['key', 'default'], 1);
      return present(of.get(key), () => otherwise);
    },
  ],
  ['items', plain('items', (of) => new View('dict_items', itemsOfDict(of)))],
  ['keys', plain('keys', (of) => new View('dict_keys', of.keys()))],
  [
    'values',
    plain(
      'values',
      (of) =>
        new View(
          'dict_values',
          Array.from(of.entries(), ([, each]) => each),
        ),
    ),
  ],
  ['copy', plain('copy', (of) => of)],
]);

export const listMethods: ReadonlyMap<string, ListMethod> = new Map<string, ListMethod>([
  [
    'index',
    (items, args, meter) => {
      const [sought = null] = bind('index', args, ['value'], 1);
      const at = items.findIndex((each) => isEqual(each, sought, meter));
      if (at === -1) throw new TemplateError('the list has no such element');
      return at;
    },
  ],
  [
    'count',
    (items, args, meter) => {
      const [sought = null] = bind('count', args, ['value'], 1);
      return items.filter((each) => isEqual(each, sought, meter)).length;
    },
  ],
]);
