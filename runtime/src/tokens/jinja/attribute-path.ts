// A path of attributes such as `function.name` or `0.id`, as filters take it.

import { itemOf } from './lookups.js';
import type { Meter } from './meter.js';
import { Undefined, textIn, type Value } from './values.js';

/**
 * @param path null: the value itself
 * @param otherwise what stands for an attribute that is not there
 */
export function getterOf(path: Value, meter: Meter, otherwise: Value = null): (of: Value) => Value {
  if (path === null) return (of) => of;
  const text = textIn(path);
  const parts =
    text === undefined ? [path] : text.split('.').map((each) => (/^\d+$/.test(each) ? Number(each) : each));
  return (of) => {
    let value = of;
    for (const part of parts) {
      value = itemOf(value, part, meter);
      if (otherwise !== null && value instanceof Undefined) value = otherwise;
    }
    return value;
  };
}

/** Text in lower case, and all else as it is: how filters compare unless they heed case. */
export function withoutCase(value: Value, meter: Meter): Value {
  const text = textIn(value);
  if (text === undefined) return value;
  meter.chars(text.length);
  return text.toLowerCase();
}
