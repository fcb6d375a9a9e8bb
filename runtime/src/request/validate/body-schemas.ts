// The bodies of requests as JSON schemas, put together from the table of fields. The OpenAPI document has them as its
// components and validate-body.ts compiles the same objects, so that what is published is what is checked. The table
// is the source, and not the document: one row there says on which routes a field is honoured, and no two routes can
// differ by accident.

import { never } from '../body/field-schemas.js';
import type { HonouredField, JsonSchema, RouteKind } from '../body/field-table.js';
import {
  fieldsOfRoute,
  honouredFields,
  isRequired,
  refusedFields,
  refusedFieldsOfRoute,
  requiredFields,
} from './request-fields.js';

export const bodyKinds = Object.keys(requiredFields) as RouteKind[];

const perKind = <T>(make: (kind: RouteKind) => T): Readonly<Record<RouteKind, T>> =>
  Object.fromEntries(bodyKinds.map((kind) => [kind, make(kind)])) as Record<RouteKind, T>;

/** What each route honours, by field. */
export const honouredOn = perKind<Readonly<Record<string, JsonSchema>>>((kind) => {
  const shared = Object.entries<HonouredField>(honouredFields)
    .filter(([, field]) => field.routes.includes(kind))
    .map(([name, field]) => [name, field.schema] as const);
  return { ...Object.fromEntries(shared), ...fieldsOfRoute[kind] };
});

/** What each route knows only to refuse it: the schemas of the values that ask for nothing. */
const refusedOn = perKind<Readonly<Record<string, JsonSchema>>>((kind) =>
  Object.fromEntries(
    Object.entries(refusedFieldsOfRoute[kind] ?? refusedFields).filter(
      ([name]) => !Object.hasOwn(honouredOn[kind], name),
    ),
  ),
);

/** Why the route refuses a field, empty where there is no more to say; null: it does not, or does not know it. */
export function refusalOf(kind: RouteKind, field: string): string | null {
  if (!Object.hasOwn(refusedOn[kind], field)) return null;
  return (refusedOn[kind][field]?.['description'] as string | undefined) ?? '';
}

export const bodySchemas = perKind(bodySchema);

/** Whether the route has a field of that name, honoured or refused. */
export const isKnown = (kind: RouteKind, field: string): boolean =>
  Object.hasOwn(honouredOn[kind], field) || Object.hasOwn(refusedOn[kind], field);

function bodySchema(kind: RouteKind): JsonSchema {
  const required = requiredFields[kind];
  const honoured = Object.entries(honouredOn[kind]).map(([name, schema]) => [
    name,
    isRequired(kind, name) ? schema : orNull(schema),
  ]);
  const refused = Object.entries(refusedOn[kind]).map(([name, schema]) => [
    name,
    { ...orNull(schema), description: 'Not supported: only a value that asks for nothing passes.' },
  ]);
  return {
    type: 'object',
    required,
    additionalProperties: never,
    properties: Object.fromEntries([...honoured, ...refused]) as JsonSchema,
  };
}

/** null is absent on every field, as OpenAI's clients send it. */
function orNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as unknown[]), { type: 'null' }] };
  if (Array.isArray(schema['enum'])) return { ...schema, enum: [...(schema['enum'] as unknown[]), null] };
  return { ...schema, type: [...new Set([type, 'null'].flat())] };
}
