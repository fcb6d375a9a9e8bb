// The fields of a chat that are about tools: what may be called, and what must be.

import { boolean, functionName, nullableBoolean, nullableText, text } from '../body/field-schemas.js';
import {
  conversed,
  type Conditional,
  type FieldTable,
  type TableValues,
  type ValueOf,
} from '../body/field-table.js';
import { chatToolMembers, type RawCustomTool, type RawFunctionTool } from './custom-tools.js';

const namedFunction = {
  type: 'object',
  required: ['type', 'function'],
  properties: {
    type: { const: 'function' },
    function: { type: 'object', required: ['name'], properties: { name: text } },
  },
} as const;

const namedCustom = {
  type: 'object',
  required: ['type', 'custom'],
  properties: {
    type: { const: 'custom' },
    custom: { type: 'object', required: ['name'], properties: { name: text } },
  },
} as const;

/** A tool that a choice names. */
const namedTool = {
  description:
    '{"type": "function", "function": {"name": NAME}} or {"type": "custom", "custom": {"name": NAME}}',
  anyOf: [namedFunction, namedCustom],
} as const;

const toolChoice = {
  description:
    '"none", "auto", "required", {"type": "function", "function": {"name": NAME}}, {"type": "custom", "custom": {"name": NAME}} or {"type": "allowed_tools", "allowed_tools": {"mode": "auto" or "required", "tools": [TOOLS AS BEFORE]}}',
  anyOf: [
    { enum: ['none', 'auto', 'required'] },
    namedFunction,
    namedCustom,
    {
      type: 'object',
      required: ['type', 'allowed_tools'],
      properties: {
        type: { const: 'allowed_tools' },
        allowed_tools: {
          type: 'object',
          required: ['mode', 'tools'],
          additionalProperties: false,
          properties: {
            mode: { enum: ['auto', 'required'] },
            tools: {
              type: 'array',
              minItems: 1,
              maxItems: 128,
              items: namedTool,
            },
          },
        },
      },
    },
  ],
} as const;

const functionTool = {
  required: ['function'],
  properties: {
    type: {},
    function: {
      type: 'object',
      required: ['name'],
      properties: {
        name: functionName,
        description: nullableText,
        parameters: { type: ['object', 'null'] },
        strict: nullableBoolean,
      },
    },
  },
} as const;

const customTool = {
  required: ['custom'],
  properties: {
    type: {},
    custom: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      properties: chatToolMembers,
    },
  },
} as const;

const tools: Conditional<readonly (RawFunctionTool | RawCustomTool)[]> = {
  type: 'array',
  maxItems: 128,
  items: {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: ['function', 'custom'] } },
    if: { required: ['type'], properties: { type: { const: 'custom' } } },
    then: customTool,
    else: functionTool,
  },
};

export const toolFields = {
  tools: { routes: conversed, schema: tools },
  tool_choice: { routes: ['chat'], schema: toolChoice },
  parallel_tool_calls: { routes: ['chat', 'responses'], schema: boolean },
} as const satisfies FieldTable;

export type ToolFields = TableValues<typeof toolFields>;
export type RawChoice = ValueOf<typeof toolChoice>;
export type NamedTool = ValueOf<typeof namedTool>;
