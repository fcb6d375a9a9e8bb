// JSON schemas, and parts of them, that the tables of several families share.

import type { JSONSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './field-table.js';

export const boolean = { type: 'boolean' } as const;
export const text = { type: 'string' } as const;
export const nullableText = { type: ['string', 'null'] } as const;
export const nullableBoolean = { type: ['boolean', 'null'] } as const;
export const never = { type: 'null' } as const;
export const is = (...values: readonly unknown[]): JsonSchema => ({ enum: values });

/** Of what is stored, as OpenAI has it. */
export const metadata = {
  type: 'object',
  maxProperties: 16,
  propertyNames: { maxLength: 64 },
  additionalProperties: { type: 'string', maxLength: 512 },
} as const;

/** The engine's numbers have 32 bits: what is nearer to 0 may be 0 there. */
export const aboveZero = 1e-6;
export const tokenId = { type: 'integer', minimum: 0, maximum: 2147483647 } as const;
export const idList = { type: 'array', items: tokenId, minItems: 1 } as const;
/** What the event loop may have in hand at once. */
export const maxTokens = 262_144;
export const tokenIds = { ...idList, maxItems: maxTokens } as const;

/** A text that ends an answer; what may be the beginning of one is held back. */
export const stopString = { type: 'string', minLength: 1, maxLength: 1024 } as const;
/** The names that functions may have on every protocol: those that no dialect of tool calls can mistake for anything else. */
export const functionName = { type: 'string', pattern: '^[a-zA-Z0-9_.:/-]{1,128}$' } as const;

/** What an object whose `type` is this one must have with it. */
export const needs = (type: string, ...required: string[]) =>
  ({
    if: { required: ['type'], properties: { type: { const: type } } },
    then: { required },
  }) satisfies JSONSchema;
