// The fields of Anthropic's Messages, as far as they are not those of other routes: the schemas of what is honoured, and
// of values of the others that ask for nothing.

import { functionName } from './function-name.js';
import { needs } from './needs.js';
import { stopString } from './stop-string.js';

const text = { type: 'string' };
const flag = { type: ['boolean', 'null'] };
const nothing = { type: 'null' };
/** Prefixes are cached unasked. */
const cacheControl = { type: ['object', 'null'] };

const textBlocks = {
  type: ['string', 'array'],
  items: {
    type: 'object',
    required: ['type', 'text'],
    properties: { type: { enum: ['text'] }, text, cache_control: cacheControl },
  },
};

const block = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: ['text', 'thinking', 'tool_use', 'tool_result'] },
    text,
    thinking: text,
    id: text,
    name: text,
    input: { type: 'object' },
    tool_use_id: text,
    content: { ...textBlocks, type: ['string', 'array', 'null'] },
    is_error: flag,
    cache_control: cacheControl,
  },
  allOf: [
    needs('text', 'text'),
    needs('thinking', 'thinking'),
    needs('tool_use', 'id', 'name', 'input'),
    needs('tool_result', 'tool_use_id'),
  ],
};

const tool = {
  type: 'object',
  required: ['name', 'input_schema'],
  additionalProperties: false,
  properties: {
    type: { enum: ['custom', null] },
    name: functionName,
    description: { type: ['string', 'null'] },
    input_schema: { type: 'object' },
    strict: flag,
    // Arguments are streamed as they come in any case.
    eager_input_streaming: flag,
    cache_control: cacheControl,
  },
};

/** What makes the prompt. */
const promptFields = {
  messages: {
    type: 'array',
    minItems: 1,
    maxItems: 10000,
    items: {
      type: 'object',
      required: ['role', 'content'],
      properties: {
        role: { enum: ['user', 'assistant', 'system'] },
        content: { type: ['string', 'array'], items: block },
      },
    },
  },
  system: textBlocks,
  tools: { type: 'array', maxItems: 128, items: tool },
  tool_choice: {
    type: 'object',
    required: ['type'],
    additionalProperties: false,
    properties: {
      type: { enum: ['auto', 'any', 'tool', 'none'] },
      name: text,
      disable_parallel_tool_use: flag,
    },
    allOf: [needs('tool', 'name')],
  },
  thinking: {
    type: 'object',
    required: ['type'],
    additionalProperties: false,
    properties: {
      type: { enum: ['enabled', 'adaptive', 'disabled'] },
      budget_tokens: { type: 'integer', minimum: 1024 },
      display: { enum: ['summarized', null] },
    },
  },
  output_config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      format: {
        type: ['object', 'null'],
        required: ['type', 'schema'],
        additionalProperties: false,
        properties: { type: { enum: ['json_schema'] }, schema: { type: 'object' } },
      },
    },
  },
  cache_control: cacheControl,
};

export const messagesFields = {
  messages: {
    ...promptFields,
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    stop_sequences: { type: 'array', maxItems: 16, items: stopString },
    metadata: {
      type: 'object',
      additionalProperties: false,
      properties: { user_id: { type: ['string', 'null'] } },
    },
  },
  countTokens: promptFields,
};

export const refusedMessagesFields = {
  service_tier: { enum: ['auto', 'standard_only'] },
  speed: { enum: ['standard'] },
  container: nothing,
  context_management: nothing,
  mcp_servers: { type: 'array', maxItems: 0 },
  inference_geo: nothing,
  diagnostics: nothing,
  user_profile_id: nothing,
  workspace_id: nothing,
};
