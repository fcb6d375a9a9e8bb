// Keywords that the compiler of schemas takes and does not hold an answer to, at the most with a warning: because of their
// value, or of what stands with them. Source: json_schema_converter.cc of XGrammar.

import type { Schema } from './subschemas.js';

/** Why the keyword is not enforced; null: it is. */
type Rule = (value: unknown, fields: Schema) => string | null;

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const largestDivisor = 1024;
/** Numbers between bounds are written out one by one. */
const maxBetween = 10_000;
/**
 * With a number of properties each property that may be left out is written for each number of those before it. Measured
 * over 200,000 ids: 100 take up to 5 s to compile, 150 up to a minute.
 */
const maxOptional = 100;

const countOfProperties: Rule = (_, { properties, required }) => {
  const names = Object.keys(properties ?? {});
  const needed = new Set(Array.isArray(required) ? required : []);
  const optional = names.filter((name) => !needed.has(name)).length;
  return optional <= maxOptional
    ? null
    : `is supported with at most ${String(maxOptional)} properties that are not required, and there are ${String(optional)}: require more of them, or leave it out`;
};

const rules: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    type: (value) => {
      const named = [value].flat();
      const unknown = named.find((each) => !types.some((type) => type === each));
      if (unknown !== undefined)
        return `names ${JSON.stringify(unknown)}, which is none of ${types.join(', ')}`;
      return named.length === 0 ? 'must name at least one type' : null;
    },
    $ref: (value) =>
      typeof value === 'string' && /^#(\/|$)/.test(value)
        ? null
        : 'must be # or begin with #/: other documents are not read',
    enum: (value, { type }) =>
      Array.isArray(value) && value.some((each) => !isOf(type, each))
        ? 'has members that are not of the type in the same schema'
        : null,
    const: (value, { type }) => (isOf(type, value) ? null : 'is not of the type in the same schema'),
    required: (value, { properties }) => {
      const names = Array.isArray(value) ? value : [];
      const unknown = names.find((name) => !Object.hasOwn(properties ?? {}, String(name))) as unknown;
      return unknown === undefined ? null : `has ${JSON.stringify(unknown)}, which is not in properties`;
    },
    patternProperties: (value, { properties }) => {
      if (properties !== undefined) return 'is not supported with properties';
      return Object.keys(value as object).length > 1
        ? 'of more than one pattern is not supported: they may match the same name'
        : null;
    },
    propertyNames: (_, fields) => {
      const conflict = ['properties', 'patternProperties'].find((each) => fields[each] !== undefined);
      if (conflict !== undefined) return `is not supported with ${conflict}`;
      const closed = ['additionalProperties', 'unevaluatedProperties'].find((each) => fields[each] === false);
      return closed === undefined ? null : `is not supported with ${closed} false`;
    },
    minProperties: countOfProperties,
    maxProperties: countOfProperties,
    multipleOf: (value, { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }) => {
      if (type !== 'integer' || !Number.isInteger(value))
        return 'is supported for type integer alone, with a whole number';
      if ((value as number) > largestDivisor) return `is supported up to ${String(largestDivisor)}`;
      const bounds = [minimum, exclusiveMinimum, maximum, exclusiveMaximum];
      if (bounds.every((bound) => bound === undefined)) return null;
      const least = Math.max(Number(minimum ?? -Infinity), Number(exclusiveMinimum ?? -Infinity) + 1);
      const most = Math.min(Number(maximum ?? Infinity), Number(exclusiveMaximum ?? Infinity) - 1);
      return most - least < maxBetween
        ? null
        : `is supported with bounds on both sides, with at most ${String(maxBetween)} numbers between them`;
    },
  }),
);

export function whyUnheld(keyword: string, fields: Schema): string | null {
  return rules.get(keyword)?.(fields[keyword], fields) ?? null;
}

/** @param type one, a list of them, or undefined: any */
function isOf(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((each) => isOf(each, value));
  switch (type) {
    case undefined:
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
