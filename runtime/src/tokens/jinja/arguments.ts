// Arguments of a call by the names of the parameters, as Python binds them.

import { TemplateError } from './errors.js';
import { numberIn, textIn, typeName, Float, type Args, type Value } from './values.js';

export const noNames: ReadonlyMap<string, Value> = new Map();

/**
 * One value for each parameter; absent: not given.
 * @throws TemplateError for too many arguments, unknown ones, and required ones that are missing
 */
export function bind(
  name: string,
  { positional, named }: Args,
  parameters: readonly string[],
  required = 0,
): (Value | undefined)[] {
  if (positional.length > parameters.length)
    throw new TemplateError(
      `${name}() takes at most ${String(parameters.length)} arguments (${String(positional.length)} given)`,
    );
  const bound: (Value | undefined)[] = parameters.map((_, i) => positional[i]);
  for (const [key, value] of named) {
    const at = parameters.indexOf(key);
    if (at === -1) throw new TemplateError(`${name}() got an unexpected keyword argument '${key}'`);
    if (bound[at] !== undefined)
      throw new TemplateError(`${name}() got multiple values for argument '${key}'`);
    bound[at] = value;
  }
  const missing = parameters.slice(0, required).find((_, i) => bound[i] === undefined);
  if (missing !== undefined) throw new TemplateError(`${name}() missing required argument: '${missing}'`);
  return bound;
}

/** @throws TemplateError unless it is an integer */
export function integer(value: Value): number {
  const number = numberIn(value);
  if (number === undefined || value instanceof Float)
    throw new TemplateError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  return number;
}

/** @throws TemplateError unless it is a string */
export function string(value: Value): string {
  const text = textIn(value);
  if (text === undefined) throw new TemplateError(`expected str, not ${typeName(value)}`);
  return text;
}
