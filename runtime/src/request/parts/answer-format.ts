// The structured output that a request asks for, by whichever of the names that OpenAI's and vLLM's clients use for it.

import type { GrammarKind } from '@llmservice/native';
import { JsonPatterns } from '../json-schema/json-patterns.js';
import { unsupportedInSchema } from '../json-schema/json-schema-support.js';
import { plainText, UnusablePattern, writePattern } from '../json-schema/pattern-writer.js';
import { schemaToCompile } from '../json-schema/schema-formats.js';
import { JsonBounds } from '../body/json-bounds.js';
import { invalidRequest, type Fields, type Violation } from '../body/validate-body.js';

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
export function readAnswerFormat(fields: Fields): AnswerFormat | null {
  const [first, second] = named(fields);
  if (first === undefined) return null;
  if (second !== undefined)
    throw invalidRequest([
      { param: second.param, message: `${second.param} and ${first.param} exclude each other` },
    ]);
  if (first.violations.length > 0) throw invalidRequest(first.violations);
  return { kind: first.kind, text: first.text };
}

function named(fields: Fields): Named[] {
  const structured = (fields['structured_outputs'] ?? {}) as Fields;
  return [
    ...responseFormat(fields['response_format'] as ResponseFormat | undefined),
    ...formatOf('json', fields['schema'], 'schema'),
    ...['json', 'regex', 'choice', 'grammar', 'json_object'].flatMap((name) => [
      ...formatOf(name, fields[`guided_${name}`], `guided_${name}`),
      ...formatOf(name, structured[name], `structured_outputs.${name}`),
    ]),
  ];
}

interface ResponseFormat {
  readonly type: 'text' | 'json_object' | 'json_schema';
  readonly json_schema?: { readonly schema?: unknown } | null;
  /** With json_object, as llama.cpp, Together and Fireworks have it; null: any object. */
  readonly schema?: unknown;
}

function responseFormat(format: ResponseFormat | undefined): Named[] {
  switch (format?.type) {
    case 'json_object':
      return (format.schema ?? null) === null
        ? formatOf('json_object', true, 'response_format')
        : formatOf('json', format.schema, 'response_format.schema');
    case 'json_schema':
      return formatOf('json', format.json_schema?.schema ?? {}, 'response_format.json_schema.schema');
    default:
      return [];
  }
}

function formatOf(name: string, value: unknown, param: string): Named[] {
  if (value === undefined || value === null || value === false) return [];
  const plain = (kind: GrammarKind, text: string): Named[] => [
    { kind, text, param, violations: tooLong(text, param) },
  ];
  switch (name) {
    case 'json_object':
      return plain('json', '');
    case 'regex':
      return [regex(value as string, param)];
    case 'grammar':
      return plain('ebnf', value as string);
    case 'choice':
      return plain(
        'ebnf',
        `root ::= ${(value as readonly string[]).map((each) => JSON.stringify(each)).join(' | ')}\n`,
      );
    default:
      return [jsonSchema(value, param)];
  }
}

function tooLong({ length }: string, param: string): Violation[] {
  if (length <= maxPlainCharacters) return [];
  const message = `${param} has ${String(length)} characters; the most are ${String(maxPlainCharacters)}`;
  return [{ param, message }];
}

function regex(pattern: string, param: string): Named {
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
    if (typeof value === 'string') schema = JSON.parse(value) as unknown;
  } catch (error) {
    return refuse(`is not JSON: ${(error as Error).message}`);
  }
  const { length } = JSON.stringify(schema);
  if (length > maxCharacters)
    return refuse(`has ${String(length)} characters; the most are ${String(maxCharacters)}`);
  const patterns = new JsonPatterns({ escaped: true });
  const violations = unsupportedInSchema(schema, param, patterns);
  if (violations.length > 0) return refused(...violations);
  return { kind: 'jsonSchema', text: JSON.stringify(schemaToCompile(schema, patterns)), param, violations };
}
