// The fields of OpenAI's Responses, as far as they are not those of other routes: the schemas of what is honoured, and of
// values of the others that ask for nothing.

import { functionName } from './function-name.js';
import { needs } from './needs.js';
import { sealPrefix } from './sealed-reasoning.js';
import { reasoningEfforts } from './reasoning-efforts.js';

const text = { type: 'string' };
const nullableText = { type: ['string', 'null'] };
const nothing = { type: 'null' };
const listOrNull = { type: ['array', 'null'] };

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
};

const inFull = 'send the reasoning itself as content';
/** LangChain makes such a summary where an answer had none. */
const saysNothing = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 0, description: inFull } },
};

const unstored = 'nothing is stored here: send the conversation itself as input';

const item = {
  type: 'object',
  properties: {
    type: { enum: ['message', 'function_call', 'function_call_output', 'reasoning'] },
    role: { enum: ['user', 'assistant', 'system', 'developer'] },
    content: { ...parts, type: ['string', 'array', 'null'] },
    call_id: text,
    name: text,
    namespace: nullableText,
    arguments: text,
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
    {
      if: { required: ['type'], properties: { type: { const: 'item_reference' } } },
      then: { properties: { type: { ...nothing, description: unstored } } },
    },
    {
      if: { properties: { content: { type: ['string', 'array', 'null'], maxItems: 0, maxLength: 0 } } },
      then: { properties: { summary: { ...listOrNull, items: saysNothing } } },
    },
  ],
};

/** What its type is, is checked apart. */
const functionTool = {
  required: ['name'],
  additionalProperties: false,
  properties: {
    type: {},
    name: functionName,
    description: nullableText,
    parameters: { type: ['object', 'null'] },
    strict: { type: ['boolean', 'null'] },
    // The tools are all the model's own to call, and all of them are in the prompt.
    allowed_callers: { type: ['array', 'null'], items: { const: 'direct' } },
    defer_loading: { enum: [false, null] },
  },
};

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
};

const tool = {
  type: 'object',
  required: ['type'],
  properties: { type: { enum: ['function', 'namespace'] } },
  if: { required: ['type'], properties: { type: { const: 'namespace' } } },
  then: namespaceTool,
  else: functionTool,
};

export const responsesFields = {
  input: { type: ['string', 'array'], minItems: 1, maxItems: 10000, items: item },
  instructions: text,
  max_output_tokens: { type: 'integer', minimum: 1 },
  tools: { type: 'array', maxItems: 128, items: tool },
  tool_choice: {
    description:
      '"none", "auto", "required" or {"type": "function", "name": NAME}; where only some tools may be called, send no others',
    anyOf: [
      { enum: ['none', 'auto', 'required'] },
      {
        type: 'object',
        required: ['type', 'name'],
        additionalProperties: false,
        properties: { type: { const: 'function' }, name: text },
      },
    ],
  },
  include: { type: 'array', items: { const: 'reasoning.encrypted_content' } },
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
          strict: { type: ['boolean', 'null'] },
        },
        additionalProperties: false,
        allOf: [
          needs('json_schema', 'schema'),
          {
            if: { required: ['type'], properties: { type: { const: 'text' } } },
            then: { properties: { schema: { ...nothing, description: 'send it with type: json_schema' } } },
          },
        ],
      },
      verbosity: { enum: ['medium', null] },
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
};

export const refusedResponsesFields = {
  // As vLLM without a store: OpenAI's default is true, and few who send it want to read the response again.
  store: { type: 'boolean' },
  previous_response_id: { ...nothing, description: unstored },
  conversation: { ...nothing, description: unstored },
  background: { enum: [false], description: unstored },
  prompt: nothing,
  top_logprobs: { enum: [0] },
  truncation: { enum: ['disabled'] },
  stream_options: {
    type: 'object',
    additionalProperties: false,
    properties: { include_obfuscation: { enum: [false, null] } },
  },
  service_tier: { enum: ['auto', 'default'] },
  context_management: { type: 'array', maxItems: 0 },
  max_tool_calls: nothing,
  moderation: nothing,
  prompt_cache_options: nothing,
  prompt_cache_retention: { enum: ['in_memory'] },
};
