// Every field of the OpenAI, vLLM and KServe bodies that clients are known to send, in one table: honoured fields with
// their JSON schema, and fields that this build does not honour with the values that ask for nothing.
// A field in neither list, or a refused one that asks for something, is a 400: nothing is ever silently ignored.

import { functionName } from './function-name.js';
import { messagesFields, refusedMessagesFields } from './messages-fields.js';
import { reasoningEfforts } from './reasoning-efforts.js';
import { refusedResponsesFields, responsesFields } from './responses-fields.js';
import { responseFormat } from './response-format.js';
import { stopString } from './stop-string.js';

/** Routes that generate from the fields of OpenAI and vLLM. */
export type GenerationKind = 'chat' | 'completions' | 'predict' | 'generate';
export type RouteKind =
  | GenerationKind
  | 'responses'
  | 'messages'
  | 'countTokens'
  | 'embeddings'
  | 'tokenize'
  | 'detokenize'
  | 'template'
  | 'warmup';
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface HonouredField {
  readonly routes: readonly RouteKind[];
  /** JSON schema of the value; null always counts as absent. */
  readonly schema: JsonSchema;
}

const all = ['chat', 'completions', 'predict', 'generate'] as const;
const openAi = ['chat', 'completions'] as const;
const everyOpenAi = [...openAi, 'embeddings'] as const;
const templated = ['chat', 'predict'] as const;
/** Routes that take a conversation as a chat does, to answer or to show it. */
const conversed = ['chat', 'tokenize', 'template'] as const;
/** Routes that render a chat template. */
const rendered = [...conversed, 'predict'] as const;
/** Protocols that have most of their fields for themselves. */
const typed = ['responses', 'messages'] as const;
const named = [
  ...everyOpenAi,
  ...typed,
  'countTokens',
  'generate',
  'tokenize',
  'detokenize',
  'template',
] as const;

/** The engine's numbers have 32 bits: what is nearer to 0 may be 0 there. */
export const aboveZero = 1e-6;

const boolean = { type: 'boolean' };
/** Forms and environments send it as a text. */
const spelledBoolean = { enum: [true, false, 'true', 'false'] };
const text = { type: 'string' };
const tokenId = { type: 'integer', minimum: 0, maximum: 2147483647 };
const idList = { type: 'array', items: tokenId, minItems: 1 };
/** A JSON schema, or its text, which may be spaced out. */
const schemaText = { type: ['object', 'string'], minLength: 1, maxLength: 262144 };
/** What the event loop may have in hand at once. */
export const maxTokens = 262_144;
const tokenIds = { ...idList, maxItems: maxTokens };
const words = { type: 'array', maxItems: 256, items: { type: 'string', minLength: 1, maxLength: 1024 } };
const grammarText = { type: 'string', minLength: 1, maxLength: 65536 };
const choices = { type: 'array', minItems: 1, maxItems: 1024, items: { type: 'string', minLength: 1 } };
const listOf = (items: object, maxItems: number) => ({ type: 'array', minItems: 1, maxItems, items });
const textOrIds = (most: number) => ({
  description:
    'a text, a list of texts, a list of token ids (whole numbers from 0) or a list of such lists; no list may be empty',
  anyOf: [text, listOf(text, most), idList, listOf(idList, most)],
});
const nullableText = { type: ['string', 'null'] };
const never = { type: 'null' };
/** Variables that a chat template gets from the rest of the request; see chat-template.ts. */
const ownVariables = Object.fromEntries(
  ['messages', 'tools', 'documents', 'add_generation_prompt'].map((name) => [
    name,
    { ...never, description: `send ${name} beside chat_template_kwargs` },
  ]),
);
/** Of an assistant's message, as an answer had them. */
const toolCalls = {
  type: ['array', 'null'],
  items: {
    type: 'object',
    required: ['function'],
    properties: {
      id: nullableText,
      type: { const: 'function' },
      function: {
        type: 'object',
        required: ['name', 'arguments'],
        properties: { name: text, arguments: text },
      },
    },
  },
};
const messages = {
  type: 'array',
  minItems: 1,
  maxItems: 10000,
  items: {
    type: 'object',
    required: ['role'],
    properties: {
      role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
      content: {
        description: 'a string or a list of text parts',
        anyOf: [
          { type: ['string', 'null'] },
          {
            type: 'array',
            items: {
              type: 'object',
              required: ['type', 'text'],
              properties: { type: { const: 'text' }, text },
            },
          },
        ],
      },
      refusal: nullableText,
      tool_calls: toolCalls,
      tool_call_id: nullableText,
      function_call: { ...never, description: 'send tool_calls' },
      audio: { ...never, description: 'send its transcript as content' },
    },
  },
};
const tools = {
  type: 'array',
  maxItems: 128,
  items: {
    type: 'object',
    required: ['type', 'function'],
    properties: {
      type: { const: 'function' },
      function: {
        type: 'object',
        required: ['name'],
        properties: {
          name: functionName,
          description: nullableText,
          parameters: { type: ['object', 'null'] },
          strict: { type: ['boolean', 'null'] },
        },
      },
    },
  },
};
const toolChoice = {
  description:
    '"none", "auto", "required" or {"type": "function", "function": {"name": NAME}}; where only some tools may be called, send no others',
  anyOf: [
    { enum: ['none', 'auto', 'required'] },
    {
      type: 'object',
      required: ['type', 'function'],
      properties: {
        type: { const: 'function' },
        function: { type: 'object', required: ['name'], properties: { name: text } },
      },
    },
  ],
};

export const honouredFields: Readonly<Record<string, HonouredField>> = {
  model: { routes: named, schema: text },
  messages: { routes: rendered, schema: messages },
  stream: { routes: [...openAi, ...typed], schema: boolean },
  stream_options: {
    routes: openAi,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        include_usage: { type: ['boolean', 'null'] },
        // vLLM's: usage so far on every chunk.
        continuous_usage_stats: { type: ['boolean', 'null'] },
      },
    },
  },
  max_tokens: { routes: [...all, 'messages'], schema: { type: 'integer', minimum: 1 } },
  max_completion_tokens: { routes: templated, schema: { type: 'integer', minimum: 1 } },
  temperature: { routes: [...all, 'responses'], schema: { type: 'number', minimum: 0, maximum: 2 } },
  top_p: { routes: [...all, ...typed], schema: { type: 'number', minimum: aboveZero, maximum: 1 } },
  top_k: { routes: [...all, ...typed], schema: { type: 'integer', minimum: -1, maximum: 2147483647 } },
  min_p: { routes: [...all, 'responses'], schema: { type: 'number', minimum: 0, maximum: 1 } },
  typical_p: { routes: all, schema: { type: 'number', minimum: aboveZero, maximum: 1 } },
  n: { routes: openAi, schema: { type: 'integer', minimum: 1, maximum: 128 } },
  logit_bias: {
    routes: all,
    schema: {
      type: 'object',
      maxProperties: 4096,
      additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
    },
  },
  min_tokens: { routes: all, schema: { type: 'integer', minimum: 0, maximum: 2147483647 } },
  allowed_token_ids: { routes: all, schema: tokenIds },
  bad_words: { routes: all, schema: words },
  thinking_token_budget: {
    routes: templated,
    schema: { type: 'integer', minimum: -1, maximum: 2147483647 },
  },
  prompt_logprobs: { routes: openAi, schema: { type: 'integer', minimum: 0, maximum: 20 } },
  return_token_ids: { routes: openAi, schema: boolean },
  return_tokens_as_token_ids: { routes: openAi, schema: boolean },
  // The last tokens of the prompt that are kept.
  truncate_prompt_tokens: { routes: all, schema: { type: 'integer', minimum: 1 } },
  seed: { routes: [...all, 'responses'], schema: { type: 'integer' } },
  presence_penalty: { routes: all, schema: { type: 'number', minimum: -2, maximum: 2 } },
  frequency_penalty: { routes: all, schema: { type: 'number', minimum: -2, maximum: 2 } },
  repetition_penalty: { routes: all, schema: { type: 'number', minimum: aboveZero, maximum: 2 } },
  stop: {
    routes: all,
    schema: { ...stopString, type: ['string', 'array'], maxItems: 16, items: stopString },
  },
  response_format: { routes: openAi, schema: responseFormat },
  // vLLM's names for it, the second set older.
  structured_outputs: {
    routes: all,
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        json: schemaText,
        regex: grammarText,
        choice: choices,
        grammar: grammarText,
        json_object: boolean,
      },
    },
  },
  guided_json: { routes: all, schema: schemaText },
  guided_regex: { routes: all, schema: grammarText },
  guided_choice: { routes: all, schema: choices },
  guided_grammar: { routes: all, schema: grammarText },
  stop_token_ids: { routes: all, schema: { type: 'array', maxItems: 128, items: tokenId } },
  include_stop_str_in_output: { routes: all, schema: boolean },
  ignore_eos: { routes: all, schema: boolean },
  skip_special_tokens: { routes: all, schema: boolean },
  top_logprobs: { routes: ['chat'], schema: { type: 'integer', minimum: 0, maximum: 20 } },
  cache_salt: {
    routes: [...everyOpenAi, ...typed],
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  },
  // As in vLLM, lower is sooner.
  priority: {
    routes: [...all, ...typed, 'embeddings'],
    schema: { type: 'integer', minimum: -8, maximum: 8 },
  },
  max_queue_seconds: {
    routes: [...all, ...typed, 'embeddings'],
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 86400 },
  },
  // Where the prompt ends; see prompt-ending.ts.
  add_generation_prompt: { routes: conversed, schema: boolean },
  continue_final_message: { routes: conversed, schema: boolean },
  tools: { routes: conversed, schema: tools },
  tool_choice: { routes: ['chat'], schema: toolChoice },
  parallel_tool_calls: { routes: ['chat', 'responses'], schema: boolean },
  chat_template_kwargs: {
    routes: rendered,
    schema: {
      type: 'object',
      properties: { ...ownVariables, enable_thinking: { enum: [...spelledBoolean.enum, null] } },
    },
  },
  enable_thinking: { routes: rendered, schema: boolean },
  reasoning: { routes: rendered, schema: spelledBoolean },
  reasoning_effort: { routes: rendered, schema: { enum: reasoningEfforts } },
  // Whose share of the engine the request takes while others wait.
  user: { routes: [...everyOpenAi, 'responses'], schema: text },
  // Labels of the caller: they ask for nothing.
  metadata: { routes: [...openAi, 'responses'], schema: { type: 'object' } },
  // Codex's, of itself.
  client_metadata: { routes: ['responses'], schema: { type: 'object' } },
  safety_identifier: { routes: [...openAi, 'responses'], schema: text },
  prompt_cache_key: { routes: [...openAi, 'responses'], schema: text },
};

/** Fields whose type depends on the route. */
export const fieldsOfRoute: Readonly<Record<RouteKind, Readonly<Record<string, JsonSchema>>>> = {
  chat: { logprobs: boolean },
  completions: {
    // 0: the prompt alone, echoed; see parse-request.ts.
    max_tokens: { type: 'integer', minimum: 0 },
    logprobs: { type: 'integer', minimum: 0, maximum: 20 },
    prompt: textOrIds(256),
    add_special_tokens: boolean,
    echo: boolean,
    best_of: { type: 'integer', minimum: 1, maximum: 128 },
  },
  responses: responsesFields,
  ...messagesFields,
  predict: { prompt: text },
  embeddings: {
    input: textOrIds(2048),
    encoding_format: { enum: ['float', 'base64'] },
    // Not OpenAI's: what of the hidden states makes the embedding.
    pooling: { enum: ['last', 'mean'] },
    add_special_tokens: boolean,
  },
  generate: { prompt: text, add_special_tokens: boolean, schema: schemaText },
  tokenize: {
    prompt: text,
    add_special_tokens: boolean,
    return_token_strs: boolean,
  },
  // They are decoded on the event loop.
  detokenize: { tokens: { ...tokenIds, minItems: 0 } },
  template: {},
  warmup: {},
};

export const requiredFields: Readonly<Record<RouteKind, readonly string[]>> = {
  chat: ['messages'],
  completions: ['prompt'],
  responses: ['input'],
  messages: ['messages', 'max_tokens'],
  countTokens: ['messages'],
  predict: [],
  embeddings: ['input'],
  generate: ['prompt'],
  tokenize: [],
  detokenize: ['tokens'],
  template: ['messages'],
  warmup: [],
};

const is = (...values: readonly unknown[]): JsonSchema => ({ enum: values });
const isEmpty: JsonSchema = {
  type: ['string', 'array', 'object'],
  maxLength: 0,
  maxItems: 0,
  maxProperties: 0,
};

/** Fields that no route honours but those above: by name, the schema of the values that ask for nothing and may pass. */
export const refusedFields: Readonly<Record<string, JsonSchema>> = {
  stream: is(false),
  n: is(1),
  best_of: is(1),
  echo: is(false),
  suffix: isEmpty,
  use_beam_search: is(false),
  length_penalty: is(1),
  early_stopping: is(false),
  functions: isEmpty,
  function_call: is('none', 'auto'),
  modalities: { type: 'array', items: is('text') },
  audio: never,
  prediction: never,
  web_search_options: never,
  verbosity: is('medium'),
  store: is(false),
  service_tier: is('auto', 'default'),
  chat_template: never,
  documents: isEmpty,
  add_generation_prompt: is(true),
  continue_final_message: is(false),
  detokenize: is(true),
  spaces_between_special_tokens: is(true),
  return_token_ids: is(false),
  return_tokens_as_token_ids: is(false),
  dimensions: never,
};

/** In place of those, where a protocol has most of its fields for itself; a description says why. */
export const refusedFieldsOfRoute: Readonly<
  Partial<Record<RouteKind, Readonly<Record<string, JsonSchema>>>>
> = {
  responses: refusedResponsesFields,
  messages: refusedMessagesFields,
  countTokens: refusedMessagesFields,
};
