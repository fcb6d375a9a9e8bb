// Attributes and items of values, as the sandbox of the reference finds them: an attribute before an item for `a.b`, an
// item before an attribute for `a['b']`, and neither: undefined. What would change a value is not there.

import { integer } from './arguments.js';
import { dictMethods, listMethods } from './collection-methods.js';
import type { Meter } from './meter.js';
import { elementAt } from './sequences.js';
import { stringMethods } from './string-methods.js';
import {
  Callable,
  Dict,
  Float,
  Instance,
  Markup,
  Tuple,
  Undefined,
  numberIn,
  present,
  textIn,
  typeName,
  type Args,
  type Value,
} from './values.js';

/** Methods of Python's dicts and lists that the sandbox does not give. */
const changing = new Set(
  'append clear extend insert pop popitem remove reverse setdefault sort update'.split(' '),
);

/** As `of.name` gives it. @throws TemplateError for an attribute of what is undefined */
export function attributeOf(of: Value, name: string, meter: Meter): Value {
  if (of instanceof Undefined) return of.fail();
  const found = method(of, name, meter);
  if (found !== undefined) return found;
  return present(of instanceof Dict ? of.get(name) : undefined, () => absent(of, name));
}

/** As `of[index]` gives it. */
export function itemOf(of: Value, index: Value, meter: Meter): Value {
  if (of instanceof Undefined) return of.fail();
  const found = of instanceof Dict ? entryOf(of, index) : indexed(of, index, meter);
  if (found !== undefined) return found;
  const name = textIn(index);
  return present(name === undefined ? undefined : method(of, name, meter), () => absent(of, name ?? null));
}

function entryOf(of: Dict, index: Value): Value | undefined {
  try {
    return of.get(index);
  } catch {
    // It has no hash.
    return undefined;
  }
}

function indexed(of: Value, index: Value, meter: Meter): Value | undefined {
  const number = index instanceof Float ? undefined : numberIn(index);
  return number === undefined ? undefined : elementAt(of, integer(number), meter);
}

function absent(of: Value, name: string | null): Undefined {
  const what = name === null ? 'such element' : `attribute '${name}'`;
  return new Undefined(`'${typeName(of)} object' has no ${what}`);
}

function method(of: Value, name: string, meter: Meter): Value | undefined {
  const bound = (call: (args: Args) => Value): Callable => new Callable(name, call);
  const text = textIn(of);
  if (text !== undefined) {
    const found = stringMethods.get(name);
    if (found === undefined) return undefined;
    return bound((args) => {
      meter.chars(text.length);
      return found({ text, isMarkup: of instanceof Markup, meter }, args);
    });
  }
  if (of instanceof Dict) {
    if (changing.has(name)) return absent(of, name);
    const found = dictMethods.get(name);
    if (found === undefined) return undefined;
    return bound((args) => {
      meter.elements(of.size);
      return found(of, args);
    });
  }
  if (Array.isArray(of) || of instanceof Tuple) {
    const items = of instanceof Tuple ? of.items : (of as readonly Value[]);
    const found = listMethods.get(name);
    if (found !== undefined) return bound((args) => found(items, args, meter));
  }
  return of instanceof Instance ? of.attribute?.(name) : undefined;
}
