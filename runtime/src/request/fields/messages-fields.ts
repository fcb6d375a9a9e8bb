// The fields of Anthropic's Messages, as far as they are not those of other routes: the schemas of what is honoured, and
// of values of the others that ask for nothing.

import {
  functionName,
  needs,
  never,
  nullableBoolean,
  nullableText,
  stopString,
  text,
} from '../body/field-schemas.js';
import type { Conditional } from '../body/field-table.js';
import { servedAnyway } from './served-anyway.js';

/** A text, or blocks of it, which are joined as they are. */
export type RawText = string | readonly { readonly text: string }[];

export type RawBlock =
  | { readonly type: 'text'; readonly text: string }
  | RawDocument
  | RawThinking
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | RawServerBlock
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }
  | RawToolResult;

export interface RawToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: string | readonly RawResult[] | null;
  readonly is_error?: boolean | null;
}

export type RawResult =
  | { readonly type: 'text'; readonly text: string }
  | RawDocument
  | { readonly type: 'tool_reference'; readonly tool_name: string };

/** A text that the client names. */
export interface RawDocument {
  readonly type: 'document';
  readonly source: { readonly data: string };
  readonly title?: string | null;
  readonly context?: string | null;
}

/** What a tool of Anthropic's own servers was asked, or gave. */
export interface RawServerBlock {
  readonly type: (typeof serverBlocks)[number];
  readonly [member: string]: unknown;
}

export interface RawThinking {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature?: string | null;
}

export interface RawTurn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly RawBlock[];
}

export const serverBlocks = [
  'server_tool_use',
  'mcp_tool_use',
  'mcp_tool_result',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
] as const;

/** Prefixes are cached unasked. */
const cacheControl = { type: ['object', 'null'] } as const;

const anthropicEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

const textBlocks = {
  type: ['string', 'array'],
  items: {
    type: 'object',
    required: ['type', 'text'],
    properties: { type: { enum: ['text'] }, text, cache_control: cacheControl },
  },
} as const;

/** Of a document; answers cite none. */
const documentMembers = {
  source: {
    type: 'object',
    required: ['type', 'data'],
    additionalProperties: false,
    properties: { type: { enum: ['text'] }, media_type: { enum: ['text/plain'] }, data: text },
  },
  title: nullableText,
  context: nullableText,
  citations: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: { enabled: { enum: [false, null] } },
  },
} as const;

const document = {
  ...needs('document'),
  then: { required: ['source'], properties: documentMembers },
} as const;

const resultBlocks = {
  type: ['string', 'array', 'null'],
  items: {
    type: 'object',
    required: ['type'],
    properties: {
      type: { enum: ['text', 'document', 'tool_reference'] },
      text,
      tool_name: text,
      cache_control: cacheControl,
    },
    allOf: [needs('text', 'text'), document, needs('tool_reference', 'tool_name')],
  },
} as const;

const block = {
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      enum: ['text', 'document', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', ...serverBlocks],
    },
    text,
    thinking: text,
    signature: nullableText,
    data: text,
    id: text,
    name: text,
    input: { type: 'object' },
    tool_use_id: text,
    is_error: nullableBoolean,
    cache_control: cacheControl,
  },
  allOf: [
    needs('text', 'text'),
    document,
    needs('thinking', 'thinking'),
    needs('tool_use', 'id', 'name', 'input'),
    needs('redacted_thinking', 'data'),
    {
      ...needs('tool_result'),
      then: { required: ['tool_use_id'], properties: { content: resultBlocks } },
    },
  ],
} as const;

const tool = {
  type: 'object',
  required: ['name', 'input_schema'],
  additionalProperties: false,
  properties: {
    type: { enum: ['custom', null] },
    name: functionName,
    description: nullableText,
    input_schema: { type: 'object' },
    strict: nullableBoolean,
    // The tools are all the model's own to call.
    allowed_callers: { type: ['array', 'null'], items: { const: 'direct' } },
    defer_loading: nullableBoolean,
    // Arguments are streamed as they come in any case.
    eager_input_streaming: nullableBoolean,
    cache_control: cacheControl,
  },
} as const;

const messages: Conditional<readonly RawTurn[]> = {
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
};

/** What makes the prompt. */
const promptFields = {
  messages,
  system: textBlocks,
  tools: { type: 'array', maxItems: 128, items: tool },
  tool_choice: {
    type: 'object',
    required: ['type'],
    additionalProperties: false,
    properties: {
      type: { enum: ['auto', 'any', 'tool', 'none'] },
      name: text,
      disable_parallel_tool_use: nullableBoolean,
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
} as const;

export const messagesFields = {
  messages: {
    ...promptFields,
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    stop_sequences: { type: 'array', maxItems: 16, items: stopString },
    metadata: {
      type: 'object',
      additionalProperties: false,
      properties: { user_id: nullableText },
    },
  },
  countTokens: promptFields,
} as const;

export const refusedMessagesFields = {
  ...servedAnyway,
  service_tier: { enum: ['auto', 'standard_only'] },
  speed: { enum: ['standard'] },
  container: never,
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
  inference_geo: never,
  diagnostics: never,
  user_profile_id: never,
  workspace_id: never,
} as const;
