// A body without the members that are null where its schema does not take null: null asks for nothing, in every object
// whose members are known. What is free, such as a tool's schema or the arguments of a call, keeps its nulls.

import type { ErrorObject } from 'ajv';

/** Each copies what it is in: a body of more is refused as it is. */
const maxLeftOut = 256;

type Path = readonly string[];

/** @param errors of the body, with their data. Null: none of them is of a member that is null */
export function withoutNulls(body: object, errors: readonly ErrorObject[]): object | null {
  const paths = errors.flatMap(nullsOf);
  if (paths.length === 0 || paths.length > maxLeftOut) return null;
  return paths.reduce((rest, path) => without(rest, path), body);
}

function nullsOf({ instancePath, keyword, params, data }: ErrorObject): readonly Path[] {
  const path = instancePath.split('/').slice(1).map(unescaped);
  if (data === null) return [path];
  if (typeof data !== 'object') return [];
  const nulls = Object.entries(data)
    .filter(([, value]) => value === null)
    .map(([name]) => name);
  // Of alternatives it is not known which one was meant.
  const named = keyword === 'anyOf' ? nulls : nulls.filter((name) => name === params['additionalProperty']);
  return named.map((name) => [...path, name]);
}

function without<Value extends object>(value: Value, [name, ...rest]: Path): Value {
  if (name === undefined) return value;
  const members = new Map(Object.entries(value));
  const member: unknown = members.get(name);
  // An entry of a list is none that may be left out.
  if (rest.length === 0 && (Array.isArray(value) || member !== null)) return value;
  if (rest.length === 0) members.delete(name);
  else if (typeof member === 'object' && member !== null) members.set(name, without(member, rest));
  return (Array.isArray(value) ? [...members.values()] : Object.fromEntries(members)) as Value;
}

/** Of a name in a JSON pointer (RFC 6901). */
export const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~');
