// The fields of OpenAI's Responses, as far as they are not those of other routes: the schemas of what is honoured, and of
// values of the others that ask for nothing.

import {
  boolean,
  functionName,
  needs,
  never,
  nullableBoolean,
  nullableText,
  text,
} from '../body/field-schemas.js';
import type { Conditional, Fields } from '../body/field-table.js';
import { sealPrefix } from '../body/sealed-reasoning.js';
import type { RawMessage } from './messages.js';
import { verbosities } from './scheduling.js';
import { servedAnyway } from './served-anyway.js';
import { reasoningEfforts } from './thinking.js';

export type RawText = string | readonly ({ readonly text: string } | { readonly refusal: string })[];

export type RawItem =
  | { readonly type?: 'message'; readonly role: RawMessage['role']; readonly content: RawText | null }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string | null;
      readonly arguments: string;
    }
  | {
      readonly type: 'custom_tool_call';
      readonly call_id: string;
      readonly name: string;
      readonly input: string;
    }
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output';
      readonly call_id: string;
      readonly output: RawText;
    }
  | RawReasoning;

export interface RawReasoning {
  readonly type: 'reasoning';
  readonly content?: RawText | null;
  readonly encrypted_content?: string | null;
}

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
interface RawCustom {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string | null;
}

export type RawTool = RawFunction | RawNamespace | RawCustom;

const listOrNull = { type: ['array', 'null'] } as const;

const parts = {
  type: ['string', 'array'],
  items: {
    type: 'object',
    required: ['type'],
    properties: {
      type: { enum: ['input_text', 'output_text', 'reasoning_text', 'refusal'] },
      text,
      refusal: text,
    },
    if: { required: ['type'], properties: { type: { const: 'refusal' } } },
    then: { required: ['refusal'] },
    else: { required: ['text'] },
  },
} as const;

const inFull = 'send the reasoning itself as content';
/** LangChain makes such a summary where an answer had none. */
const saysNothing = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 0, description: inFull } },
} as const;

/** Characters. */
export const maxResponseId = 256;
export const unstored = 'nothing is stored here: send the conversation itself as input';

const item = {
  type: 'object',
  properties: {
    type: {
      enum: [
        'message',
        'function_call',
        'function_call_output',
        'custom_tool_call',
        'custom_tool_call_output',
        'reasoning',
      ],
    },
    role: { enum: ['user', 'assistant', 'system', 'developer'] },
    content: { ...parts, type: ['string', 'array', 'null'] },
    call_id: text,
    name: text,
    namespace: nullableText,
    arguments: text,
    input: text,
    output: parts,
    summary: listOrNull,
    encrypted_content: { ...nullableText, pattern: `^${sealPrefix}`, description: inFull },
  },
  allOf: [
    // The type of a message may stay away.
    { if: { not: { required: ['type'] } }, then: { required: ['role', 'content'] } },
    needs('message', 'role', 'content'),
    needs('function_call', 'call_id', 'name', 'arguments'),
    needs('function_call_output', 'call_id', 'output'),
    needs('custom_tool_call', 'call_id', 'name', 'input'),
    needs('custom_tool_call_output', 'call_id', 'output'),
    {
      if: { required: ['type'], properties: { type: { const: 'item_reference' } } },
      then: { properties: { type: { ...never, description: unstored } } },
    },
    {
      if: { properties: { content: { type: ['string', 'array', 'null'], maxItems: 0, maxLength: 0 } } },
      then: { properties: { summary: { ...listOrNull, items: saysNothing } } },
    },
  ],
} as const;

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
    // The tools are all the model's own to call, and all of them are in the prompt.
    allowed_callers: { type: ['array', 'null'], items: { const: 'direct' } },
    defer_loading: { enum: [false, null] },
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
    name: functionName,
    description: nullableText,
    format: {
      type: ['object', 'null'],
      required: ['type'],
      additionalProperties: false,
      properties: { type: { enum: ['text'] } },
    },
    defer_loading: { enum: [false, null] },
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

const input: Conditional<string | readonly RawItem[]> = {
  type: ['string', 'array'],
  minItems: 1,
  maxItems: 10000,
  items: item,
};

const tools: Conditional<readonly RawTool[]> = { type: 'array', maxItems: 128, items: tool };

const namedTool = {
  type: 'object',
  required: ['type', 'name'],
  additionalProperties: false,
  properties: { type: { enum: ['function', 'custom'] }, name: text, namespace: nullableText },
} as const;

/** What `include` may ask for. */
export const sealedReasoning = 'reasoning.encrypted_content';
export const textLogprobs = 'message.output_text.logprobs';

export const responsesFields = {
  input,
  instructions: text,
  // Where the server stores responses; without a store they are refused.
  previous_response_id: { type: 'string', minLength: 1, maxLength: maxResponseId },
  background: boolean,
  max_output_tokens: { type: 'integer', minimum: 1 },
  tools,
  tool_choice: {
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
  },
  // Of the provider's own tools, of which there are none here.
  max_tool_calls: { type: 'integer', minimum: 1 },
  include: { type: 'array', items: { enum: [sealedReasoning, textLogprobs] } },
  text: {
    type: 'object',
    additionalProperties: false,
    properties: {
      format: {
        type: ['object', 'null'],
        required: ['type'],
        properties: {
          type: { enum: ['text', 'json_object', 'json_schema'] },
          name: text,
          description: nullableText,
          schema: { type: 'object' },
          strict: nullableBoolean,
        },
        additionalProperties: false,
        allOf: [
          needs('json_schema', 'schema'),
          {
            if: { required: ['type'], properties: { type: { const: 'text' } } },
            then: { properties: { schema: { ...never, description: 'send it with type: json_schema' } } },
          },
        ],
      },
      verbosity: { enum: [...verbosities, null] },
    },
  },
  reasoning: {
    type: 'object',
    additionalProperties: false,
    properties: {
      effort: { enum: [...reasoningEfforts, null] },
      // The reasoning itself is returned, and no summary of it.
      summary: { enum: ['auto', 'detailed', null] },
    },
  },
} as const;

export const refusedResponsesFields = {
  conversation: {
    ...never,
    description: 'there are no conversations here: send previous_response_id, or the items as input',
  },
  prompt: never,
  stream_options: {
    type: 'object',
    additionalProperties: false,
    properties: { include_obfuscation: { enum: [false, null] } },
  },
  context_management: { type: 'array', maxItems: 0 },
  moderation: never,
  prompt_cache_options: never,
  ...servedAnyway,
} as const;
