// What of JSON Schema a grammar can hold an answer to. Anything else is refused by name: an answer that is said to follow
// a schema follows all of it.

import type { JsonPatterns } from './json-patterns.js';
import { UnusablePattern } from './pattern-writer.js';
import { knownFormats } from './schema-formats.js';
import { listsOfSchemas, namedSchemas, subschemas, type Schema } from './subschemas.js';
import { whyUnheld } from './unheld-keywords.js';
import type { Violation } from '../body/violation.js';

/** They say what a value is for, and ask nothing of it. */
const annotations = new Set(
  (
    'title description default example examples deprecated readOnly writeOnly discriminator ' +
    '$schema $id $comment $defs definitions'
  ).split(' '),
);

/** The first of these that a schema has decides alone. */
const alternatives = ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'] as const;

const assertions = new Set(
  (
    'type properties required additionalProperties patternProperties propertyNames minProperties maxProperties ' +
    'unevaluatedProperties items prefixItems unevaluatedItems minItems maxItems minLength maxLength pattern format ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  ).split(' '),
);

/** The first of these that a schema has says all of a text. */
const wholeTexts = ['format', 'pattern'] as const;
const ofTexts = new Set(['format', 'pattern', 'minLength', 'maxLength']);

const impliesType = (
  'type properties additionalProperties unevaluatedProperties ' + 'items prefixItems unevaluatedItems'
).split(' ');

/** The time to compile grows with the third power of it. */
const maxDepth = 32;

/**
 * @param path of the schema in the body, such as response_format.json_schema.schema
 * @param patterns that check those of the schema
 */
export function unsupportedInSchema(
  schema: unknown,
  path: string,
  patterns: JsonPatterns,
  depth = 0,
): Violation[] {
  if (depth > maxDepth)
    return [{ param: path, message: `${path} is nested more than ${String(maxDepth)} schemas deep` }];
  if (typeof schema === 'boolean') return [];
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return [{ param: path, message: `${path} must be a JSON schema: an object, true or false` }];
  const fields = schema as Schema;
  const malformed = malformedKeywords(fields, path);
  if (malformed.length > 0) return malformed;
  return [
    ...Object.keys(fields).flatMap((keyword) => unsupportedKeyword(keyword, fields, path, patterns)),
    ...subschemas(fields).flatMap(([name, each]) =>
      unsupportedInSchema(each, `${path}.${name}`, patterns, depth + 1),
    ),
  ];
}

/** What holds other schemas must be what it should be, before anything looks inside. */
function malformedKeywords(fields: Schema, path: string): Violation[] {
  const isObject = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return Object.entries(fields).flatMap(([keyword, value]) => {
    const param = `${path}.${keyword}`;
    if (listsOfSchemas.has(keyword) && !Array.isArray(value))
      return [{ param, message: `${param} must be a list of schemas` }];
    if (namedSchemas.has(keyword) && !isObject(value))
      return [{ param, message: `${param} must be an object of schemas` }];
    return [];
  });
}

function unsupportedKeyword(
  keyword: string,
  fields: Schema,
  path: string,
  patterns: JsonPatterns,
): Violation[] {
  const refuse = (why: string): Violation[] => [
    { param: `${path}.${keyword}`, message: `${path}.${keyword} ${why}` },
  ];
  if (annotations.has(keyword)) return [];
  const unheld = whyUnheld(keyword, fields);
  if (unheld !== null) return refuse(unheld);
  const decides = alternatives.find((each) => fields[each] !== undefined);
  if (keyword === decides) {
    const several = keyword === 'allOf' && (fields[keyword] as readonly unknown[]).length > 1;
    return several ? refuse('of more than one schema is not supported: merge them into one') : [];
  }
  if (!assertions.has(keyword) && !alternatives.some((each) => each === keyword))
    return refuse('is not supported in a schema for answers');
  if (decides === undefined && !saysType(fields)) return refuse('needs a type with it');
  if (keyword === 'format' && !knownFormats.some((each) => each === fields[keyword]))
    return refuse(`is none of ${knownFormats.join(', ')}`);
  const unusable = unusablePattern(keyword, fields[keyword], patterns);
  if (unusable !== null) return refuse(unusable);
  const whole = wholeTexts.find((each) => fields[each] !== undefined);
  if (whole !== undefined && whole !== keyword && ofTexts.has(keyword))
    return refuse(`is not supported with ${whole}: say it in one pattern`);
  const redundant = keyword === 'type' && (decides === 'const' || decides === 'enum');
  return decides === undefined || redundant ? [] : refuse(`is not supported with ${decides}: put it inside`);
}

/** Why a pattern, or one of the names in patternProperties, cannot be enforced. */
function unusablePattern(keyword: string, value: unknown, patterns: JsonPatterns): string | null {
  try {
    if (keyword === 'patternProperties')
      for (const name of Object.keys(value as object)) patterns.check(name);
    if (keyword !== 'pattern') return null;
    if (typeof value !== 'string') return 'must be a string';
    patterns.check(value);
    return null;
  } catch (error) {
    if (error instanceof UnusablePattern) return error.message;
    throw error;
  }
}

/** Whether values are of a kind that keywords can constrain: a compiler takes any value where none is said. */
function saysType(fields: Schema): boolean {
  return impliesType.some((keyword) => fields[keyword] !== undefined);
}
