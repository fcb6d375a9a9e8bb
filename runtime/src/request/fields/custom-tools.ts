// OpenAI's custom tools, whose input is a plain text, or an instance of a regular expression: the model is shown a function
// with one text as argument.

import { functionName, never, nullableText, text } from '../body/field-schemas.js';
import type { Fields } from '../body/field-table.js';

export interface RawFunctionTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string | null;
    readonly parameters?: Fields | null;
    readonly strict?: boolean | null;
  };
}

/** On chat its grammar has a member of its own. */
type CustomFormat =
  | { readonly type: 'text' }
  | { readonly type: 'grammar'; readonly definition: string }
  | { readonly type: 'grammar'; readonly grammar: { readonly definition: string } };

export interface CustomTool {
  readonly name: string;
  readonly description?: string | null;
  /** What inputs follow; absent: they are any text. */
  readonly format?: CustomFormat | null;
}

export interface RawCustomTool {
  readonly type: 'custom';
  readonly custom: CustomTool;
}

/** Lark's grammars are not read. */
const grammar = {
  syntax: { enum: ['regex'], description: 'send the grammar as a regular expression, with syntax: regex' },
  definition: { type: 'string', minLength: 1, maxLength: 65_536 },
} as const;

const onlyOfGrammar = { ...never, description: 'send it with type: grammar' } as const;
const ofGrammar = { required: ['type'], properties: { type: { const: 'grammar' } } } as const;

/** What both routes that have such tools know of one. */
const customToolMembers = { name: functionName, description: nullableText } as const;

export const chatToolMembers = {
  ...customToolMembers,
  format: {
    type: ['object', 'null'],
    required: ['type'],
    additionalProperties: false,
    properties: {
      type: { enum: ['text', 'grammar'] },
      grammar: {
        type: ['object', 'null'],
        required: Object.keys(grammar),
        additionalProperties: false,
        properties: grammar,
      },
    },
    if: ofGrammar,
    then: { required: ['grammar'], properties: { grammar: { type: 'object' } } },
    else: { properties: { grammar: onlyOfGrammar } },
  },
} as const;

export const responsesToolMembers = {
  ...customToolMembers,
  format: {
    type: ['object', 'null'],
    required: ['type'],
    additionalProperties: false,
    properties: { type: { enum: ['text', 'grammar'] }, ...grammar },
    if: ofGrammar,
    then: { required: Object.keys(grammar) },
    else: { properties: { syntax: onlyOfGrammar, definition: onlyOfGrammar } },
  },
} as const;

/** Of a custom tool. */
export const customCall = {
  type: 'object',
  required: ['name', 'input'],
  properties: { name: text, input: text },
} as const;

/** Where the expression stands in what the model is shown. */
export const patternOfInput = 'parameters.properties.input.pattern';

function parametersOf(pattern: string | null): Fields {
  const input = { type: 'string', ...(pattern === null ? {} : { pattern }) };
  return { type: 'object', properties: { input }, required: ['input'], additionalProperties: false };
}

/** The expression that inputs are instances of, from beginning to end; null: they are any text. */
function patternOf(format: CustomFormat | null | undefined): string | null {
  if (format?.type !== 'grammar') return null;
  return 'grammar' in format ? format.grammar.definition : format.definition;
}

/** Templates show tools as they get them: what says nothing stays away. */
export function functionOf({ name, description, format }: CustomTool): RawFunctionTool['function'] {
  const pattern = patternOf(format);
  return {
    name,
    ...(description ? { description } : {}),
    parameters: parametersOf(pattern),
    ...(pattern === null ? {} : { strict: true }),
  };
}

/** A call as the model wrote it. */
export const functionCallOf = ({ name, input }: { readonly name: string; readonly input: string }) => ({
  name,
  arguments: JSON.stringify({ input }),
});
