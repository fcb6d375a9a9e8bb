// Where a JSON schema holds other schemas.

import { mapMembers } from '../../tools/written-names.js';

export type Schema = Readonly<Record<string, unknown>>;

export const listsOfSchemas = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
export const namedSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const singleSchemas = new Set(
  'items additionalProperties unevaluatedItems unevaluatedProperties propertyNames'.split(' '),
);

/** Each with its path in the schema. Lists and objects of schemas must be lists and objects. */
export function subschemas(schema: Schema): [string, unknown][] {
  const found: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (listsOfSchemas.has(keyword))
      (value as readonly unknown[]).forEach((each, i) => found.push([`${keyword}[${String(i)}]`, each]));
    else if (namedSchemas.has(keyword))
      for (const [name, each] of Object.entries(value as object)) found.push([`${keyword}.${name}`, each]);
    else if (singleSchemas.has(keyword)) found.push([keyword, value]);
  }
  return found;
}

/** The schema with others in the place of those that it holds. */
export function mapSubschemas(schema: Schema, map: (each: unknown) => unknown): Schema {
  const mapped = (keyword: string, value: unknown): unknown => {
    if (listsOfSchemas.has(keyword)) return (value as readonly unknown[]).map(map);
    if (namedSchemas.has(keyword)) return mapMembers(value as object, map);
    return singleSchemas.has(keyword) ? map(value) : value;
  };
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapped(keyword, value)]),
  );
}
