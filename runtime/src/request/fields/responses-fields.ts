// The fields of OpenAI's Responses, as far as they are not those of other routes: the schemas of what is honoured, and of
// values of the others that ask for nothing.

import { is, needs, never, nullableBoolean, nullableText, text } from '../body/field-schemas.js';
import type { Conditional } from '../body/field-table.js';
import { sealPrefix } from '../body/sealed-reasoning.js';
import type { RawMessage } from './messages.js';
import { toolChoice, tools } from './responses-tools.js';
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

const unstored = 'nothing is stored here: send the conversation itself as input';
const inTheRequest = 'send reasoning and text with the request';

const needsNamed = (type: string, ...required: string[]) => ({
  ...needs(type),
  then: { required: ['name', ...required], properties: { name: text } },
});

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
    // Of a result it may be null.
    name: nullableText,
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
    needsNamed('function_call', 'call_id', 'arguments'),
    needs('function_call_output', 'call_id', 'output'),
    needsNamed('custom_tool_call', 'call_id', 'input'),
    needs('custom_tool_call_output', 'call_id', 'output'),
    {
      if: { required: ['type'], properties: { type: { const: 'item_reference' } } },
      then: { properties: { type: { ...never, description: unstored } } },
    },
    {
      if: { required: ['type'], properties: { type: { const: 'configuration_update' } } },
      then: { properties: { type: { ...never, description: inTheRequest } } },
    },
    {
      if: { properties: { content: { type: ['string', 'array', 'null'], maxItems: 0, maxLength: 0 } } },
      then: { properties: { summary: { ...listOrNull, items: saysNothing } } },
    },
  ],
} as const;

const input: Conditional<string | readonly RawItem[]> = {
  type: ['string', 'array'],
  minItems: 1,
  maxItems: 10000,
  items: item,
};

/** What `include` may ask for. */
export const sealedReasoning = 'reasoning.encrypted_content';
export const textLogprobs = 'message.output_text.logprobs';

export const responsesFields = {
  input,
  instructions: text,
  max_output_tokens: { type: 'integer', minimum: 1 },
  tools,
  tool_choice: toolChoice,
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
      generate_summary: { enum: ['auto', 'detailed', null] },
      // What the model sees of earlier reasoning, its chat template says.
      context: { enum: ['auto', null] },
    },
  },
} as const;

export const refusedResponsesFields = {
  previous_response_id: { ...never, description: unstored },
  conversation: { ...never, description: unstored },
  background: { enum: [false], description: unstored },
  prompt: never,
  stream_options: {
    type: 'object',
    additionalProperties: false,
    properties: { include_obfuscation: { enum: [false, null] } },
  },
  context_management: { type: 'array', maxItems: 0 },
  moderation: never,
  access_programs: is({}, { cyber: 'standard' }),
  // There are no images to compress.
  image: is({}, { context_compression: 'auto' }, { context_compression: 'disabled' }),
  background_options: is({}, { completion_window: 'soonest' }),
  ...servedAnyway,
} as const;
