// OpenAI's custom tools, whose input is a plain text: the model is shown a function with one text as argument.

import { functionName, nullableText, text } from '../body/field-schemas.js';
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

interface CustomTool {
  readonly name: string;
  readonly description?: string | null;
}

export interface RawCustomTool {
  readonly type: 'custom';
  readonly custom: CustomTool;
}

/** What both routes that have such tools know of one; an input that follows a grammar is not supported. */
export const customToolMembers = {
  name: functionName,
  description: nullableText,
  format: {
    type: ['object', 'null'],
    required: ['type'],
    additionalProperties: false,
    properties: { type: { enum: ['text'] } },
  },
} as const;

/** Of a custom tool. */
export const customCall = {
  type: 'object',
  required: ['name', 'input'],
  properties: { name: text, input: text },
} as const;

const parameters = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** Templates show tools as they get them: what says nothing stays away. */
export const functionOf = ({ name, description }: CustomTool): RawFunctionTool['function'] => ({
  name,
  ...(description ? { description } : {}),
  parameters,
});

/** A call as the model wrote it. */
export const functionCallOf = ({ name, input }: { readonly name: string; readonly input: string }) => ({
  name,
  arguments: JSON.stringify({ input }),
});
