// The structured output that a request asks for, by whichever of the names that OpenAI's and vLLM's clients use for it.

import type { GrammarKind } from '@llmservice/native';
import { JsonPatterns } from '../json-schema/json-patterns.js';
import { unsupportedInSchema } from '../json-schema/json-schema-support.js';
import { plainText, UnusablePattern, writePattern } from '../json-schema/pattern-writer.js';
import { schemaToCompile } from '../json-schema/schema-formats.js';
import { boolean, never, nullableBoolean, nullableText } from '../body/field-schemas.js';
import {
  all,
  openAi,
  type FieldTable,
  type TableValues,
  type ValueOf,
  type ValuesOf,
} from '../body/field-table.js';
import { JsonBounds } from '../body/json-bounds.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { writtenAs } from '../../tools/exact-json.js';
import { noteNames } from '../../tools/written-names.js';

/** A JSON schema, or its text, which may be spaced out. */
const schemaText = { type: ['object', 'string'], minLength: 1, maxLength: 262144 } as const;
const grammarText = { type: 'string', minLength: 1, maxLength: 65536 } as const;
const choices = {
  type: 'array',
  minItems: 1,
  maxItems: 1024,
  items: { type: 'string', minLength: 1 },
} as const;

const type = (value: string) => ({ required: ['type'], properties: { type: { const: value } } });
/** Null is absent, as everywhere. */
const without = (field: string, instead: string) => ({
  properties: { [field]: { ...never, description: instead } },
});

/** OpenAI's. A schema with `json_object` is how the clients of llama.cpp, Together and Fireworks send one. */
const responseFormat = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['text', 'json_object', 'json_schema'] },
    json_schema: {
      type: ['object', 'null'],
      required: ['schema'],
      additionalProperties: false,
      properties: {
        name: nullableText,
        description: nullableText,
        schema: { type: 'object' },
        // Every schema is enforced.
        strict: nullableBoolean,
      },
    },
    schema: { type: ['object', 'null'] },
  },
  allOf: [
    {
      if: type('json_schema'),
      then: { required: ['json_schema'], properties: { json_schema: { type: 'object' } } },
      else: without('json_schema', 'send it with type: json_schema'),
    },
    {
      if: type('json_object'),
      else: without('schema', 'send type: json_schema, and it as json_schema.schema'),
    },
  ],
} as const;

export const formatFields = {
  response_format: { routes: openAi, schema: responseFormat },
  // vLLM's names for it, the second set older.
  structured_outputs: {
    routes: all,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        json: schemaText,
        regex: grammarText,
        choice: choices,
        grammar: grammarText,
        json_object: boolean,
      },
    },
  },
  guided_json: { routes: all, schema: schemaText },
  guided_regex: { routes: all, schema: grammarText },
  guided_choice: { routes: all, schema: choices },
  guided_grammar: { routes: all, schema: grammarText },
  // SGLang's.
  regex: { routes: openAi, schema: grammarText },
  ebnf: { routes: openAi, schema: grammarText },
} as const satisfies FieldTable;

/** Of generate. */
export const schemaField = { schema: schemaText } as const;

export type FormatFields = TableValues<typeof formatFields> & ValuesOf<typeof schemaField>;

/** Of a schema; the time to compile some kinds grows with the square of it. */
const maxCharacters = 65_536;
/** Of choices, which are compiled as they stand; other fields have bounds of their own. */
const maxPlainCharacters = 262_144;

/** What the answer must be, reasoning apart. */
export interface AnswerFormat {
  readonly kind: GrammarKind;
  readonly text: string;
}

interface Named extends AnswerFormat {
  readonly param: string;
  readonly violations: readonly Violation[];
}

/** @throws ApiError invalid_request when there are several, or a schema that cannot be enforced whole */
export function readAnswerFormat(fields: FormatFields): AnswerFormat | null {
  const [first, second] = named(fields);
  if (first === undefined) return null;
  if (second !== undefined)
    throw invalidRequest([violationAt(second.param, `and ${first.param} exclude each other`)]);
  if (first.violations.length > 0) throw invalidRequest(first.violations);
  return { kind: first.kind, text: first.text };
}

type Read<Value> = (value: Value, param: string) => Named;

function named(fields: FormatFields): Named[] {
  const { json, regex, choice, grammar, json_object } = fields.structured_outputs ?? {};
  const of = <Value>(read: Read<Value>, value: Value | undefined, param: string): Named[] =>
    value === undefined ? [] : [read(value, param)];
  return [
    ...ofResponseFormat(fields.response_format),
    ...of(jsonSchema, fields.schema, 'schema'),
    ...of(jsonSchema, fields.guided_json, 'guided_json'),
    ...of(jsonSchema, json, 'structured_outputs.json'),
    ...of(regular, fields.guided_regex, 'guided_regex'),
    ...of(regular, regex, 'structured_outputs.regex'),
    ...of(regular, fields.regex, 'regex'),
    ...of(oneOf, fields.guided_choice, 'guided_choice'),
    ...of(oneOf, choice, 'structured_outputs.choice'),
    ...of(ebnf, fields.guided_grammar, 'guided_grammar'),
    ...of(ebnf, grammar, 'structured_outputs.grammar'),
    ...of(ebnf, fields.ebnf, 'ebnf'),
    ...(json_object === true ? [anyObject('structured_outputs.json_object')] : []),
  ];
}

function ofResponseFormat(format: ValueOf<typeof responseFormat> | undefined): Named[] {
  switch (format?.type) {
    case 'json_object':
      return (format.schema ?? null) === null
        ? [anyObject('response_format')]
        : [jsonSchema(format.schema, 'response_format.schema')];
    case 'json_schema':
      return [jsonSchema(format.json_schema?.schema ?? {}, 'response_format.json_schema.schema')];
    default:
      return [];
  }
}

const plain = (kind: GrammarKind, text: string, param: string): Named => ({
  kind,
  text,
  param,
  violations: tooLong(text, param),
});

const anyObject = (param: string): Named => plain('json', '', param);
const ebnf: Read<string> = (grammar, param) => plain('ebnf', grammar, param);
const oneOf: Read<readonly string[]> = (choices, param) =>
  ebnf(`root ::= ${choices.map((each) => JSON.stringify(each)).join(' | ')}\n`, param);

function tooLong({ length }: string, param: string): Violation[] {
  if (length <= maxPlainCharacters) return [];
  const message = `${param} has ${String(length)} characters; the most are ${String(maxPlainCharacters)}`;
  return [{ param, message }];
}

function regular(pattern: string, param: string): Named {
  try {
    return { kind: 'regex', text: writePattern(pattern, plainText).text, param, violations: [] };
  } catch (error) {
    if (!(error instanceof UnusablePattern)) throw error;
    const message = `${param} ${error.message}`;
    return { kind: 'regex', text: '', param, violations: [{ param, message }] };
  }
}

function jsonSchema(value: unknown, param: string): Named {
  const refused = (...violations: readonly Violation[]): Named => ({
    kind: 'jsonSchema',
    text: '',
    param,
    violations,
  });
  const refuse = (why: string): Named => refused({ param, message: `${param} ${why}` });
  const excess = typeof value === 'string' ? new JsonBounds().excessOf(Buffer.from(value)) : null;
  if (excess !== null) return refuse(excess);
  let schema = value;
  try {
    if (typeof value === 'string') {
      schema = JSON.parse(value) as unknown;
      noteNames(schema, value);
    }
  } catch (error) {
    return refuse(`is not JSON: ${(error as Error).message}`);
  }
  const { length } = JSON.stringify(schema);
  if (length > maxCharacters)
    return refuse(`has ${String(length)} characters; the most are ${String(maxCharacters)}`);
  const patterns = new JsonPatterns({ escaped: true });
  const violations = unsupportedInSchema(schema, param, patterns);
  if (violations.length > 0) return refused(...violations);
  return { kind: 'jsonSchema', text: writtenAs(schemaToCompile(schema, patterns)), param, violations };
}
