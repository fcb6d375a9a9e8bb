// The tools of OpenAI's Responses, and which of them the model may call.

import { functionName, nullableBoolean, nullableText, text } from '../body/field-schemas.js';
import type { Conditional, Fields } from '../body/field-table.js';
import { responsesToolMembers, type CustomTool } from './custom-tools.js';

export interface RawFunction {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Fields | null;
  readonly strict?: boolean | null;
}

interface RawNamespace {
  readonly type: 'namespace';
  readonly name: string;
  readonly description?: string | null;
  readonly tools: readonly RawFunction[];
}

/** Its input is a text. */
interface RawCustom extends CustomTool {
  readonly type: 'custom';
}

export type RawTool = RawFunction | RawNamespace | RawCustom;

/** What its type is, is checked apart. */
const functionTool = {
  required: ['name'],
  additionalProperties: false,
  properties: {
    type: {},
    name: functionName,
    description: nullableText,
    parameters: { type: ['object', 'null'] },
    strict: nullableBoolean,
    // The tools are all the model's own to call, all of them are in the prompt, and the model waits for what a call gives.
    allowed_callers: { type: ['array', 'null'], items: { const: 'direct' } },
    defer_loading: { enum: [false, null] },
    async: { enum: [false, null] },
  },
} as const;

const namespaceTool = {
  required: ['name', 'tools'],
  additionalProperties: false,
  properties: {
    type: {},
    name: functionName,
    description: nullableText,
    tools: {
      type: 'array',
      maxItems: 128,
      items: {
        type: 'object',
        ...functionTool,
        properties: { ...functionTool.properties, type: { enum: ['function'] } },
        required: ['type', 'name'],
      },
    },
  },
} as const;

const customTool = {
  required: ['name'],
  additionalProperties: false,
  properties: {
    type: {},
    ...responsesToolMembers,
    defer_loading: { enum: [false, null] },
    async: { enum: [false, null] },
  },
} as const;

const isOf = (type: string) => ({ required: ['type'], properties: { type: { const: type } } });

const tool = {
  type: 'object',
  required: ['type'],
  properties: { type: { enum: ['function', 'namespace', 'custom'] } },
  if: isOf('namespace'),
  then: namespaceTool,
  else: { if: isOf('custom'), then: customTool, else: functionTool },
} as const;

export const tools: Conditional<readonly RawTool[]> = { type: 'array', maxItems: 128, items: tool };

const namedTool = {
  type: 'object',
  required: ['type', 'name'],
  additionalProperties: false,
  properties: { type: { enum: ['function', 'custom'] }, name: text, namespace: nullableText },
} as const;

export const toolChoice = {
  description:
    '"none", "auto", "required", {"type": "function" or "custom", "name": NAME} or {"type": "allowed_tools", "mode": "auto" or "required", "tools": [TOOLS AS BEFORE]}',
  anyOf: [
    { enum: ['none', 'auto', 'required'] },
    namedTool,
    {
      type: 'object',
      required: ['type', 'mode', 'tools'],
      additionalProperties: false,
      properties: {
        type: { const: 'allowed_tools' },
        mode: { enum: ['auto', 'required'] },
        tools: { type: 'array', minItems: 1, maxItems: 128, items: namedTool },
      },
    },
  ],
} as const;
