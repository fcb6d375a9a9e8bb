// What JSON schemas of answers are made of.

import type { JsonSchema } from '../../request/body/field-table.js';

export const text = { type: 'string' };
export const whole = { type: 'integer', minimum: 0 };
export const boolean = { type: 'boolean' };
export const members = { type: 'object' };
export const anyOrNull = (type: string): JsonSchema => ({ type: [type, 'null'] });
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const only = (value: string | boolean): JsonSchema => ({ const: value });
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Every member is required unless it is named as optional. */
export function object(
  members: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(members).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties: members };
}

/** Of a list that clients go through. */
export const page = (entry: JsonSchema): JsonSchema =>
  object({
    object: only('list'),
    data: list(entry),
    first_id: anyOrNull('string'),
    last_id: anyOrNull('string'),
    has_more: boolean,
  });
