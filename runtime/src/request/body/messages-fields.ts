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

const anthropicEfforts = ['low', 'medium', 'high', 'xhigh', 'max'];

const textBlocks = {
  type: ['string', 'array'],
  items: {
    type: 'object',
    required: ['type', 'text'],
    properties: { type: { enum: ['text'] }, text, cache_control: cacheControl },
  },
};

const resultBlocks = {
  type: ['string', 'array', 'null'],
  items: {
    type: 'object',
    required: ['type'],
    properties: {
      type: { enum: ['text', 'tool_reference'] },
      text,
      tool_name: text,
      cache_control: cacheControl,
    },
    allOf: [needs('text', 'text'), needs('tool_reference', 'tool_name')],
  },
};

const block = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: ['text', 'thinking', 'tool_use', 'tool_result'] },
    text,
    thinking: text,
    signature: { type: ['string', 'null'] },
    id: text,
    name: text,
    input: { type: 'object' },
    tool_use_id: text,
    content: resultBlocks,
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
    // The tools are all the model's own to call.
    allowed_callers: { type: ['array', 'null'], items: { const: 'direct' } },
    defer_loading: flag,
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
      display: { enum: ['summarized', 'omitted', null] },
    },
  },
  output_config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      // Of the chat template's business: whether the model thinks is said by `thinking`.
      effort: { enum: [...anthropicEfforts, null] },
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
  // Nothing is cleared here; Claude Code asks that thinking is not.
  context_management: {
    type: 'object',
    additionalProperties: false,
    properties: {
      edits: {
        type: 'array',
        items: {
          type: 'object',
          required: ['type', 'keep'],
          additionalProperties: false,
          properties: {
            type: { const: 'clear_thinking_20251015' },
            keep: { enum: ['all', { type: 'all' }] },
          },
        },
      },
    },
  },
  mcp_servers: { type: 'array', maxItems: 0 },
  inference_geo: nothing,
  diagnostics: nothing,
  user_profile_id: nothing,
  workspace_id: nothing,
};
