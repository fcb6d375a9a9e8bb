// JSON schemas of the answers of routes, for the OpenAPI document. They list the members that are always present; answers
// may have more.

import { anthropicErrorTypes, replicaErrors } from '@llmservice/crds';
import type { JsonSchema } from '../../request/body/field-table.js';
import { anyOrNull, boolean, list, members, object, only, ref, text, whole } from './schema-parts.js';
import { storedAnswerSchemas } from './stored-answer-schemas.js';

const finish = { enum: ['stop', 'length', 'tool_calls', 'repetition', 'abort', 'error', null] };
const stopReason = { type: ['string', 'integer', 'null'] };
const chunkEnd = { logprobs: anyOrNull('object'), finish_reason: finish };
const end = { ...chunkEnd, stop_reason: stopReason };
const message = object(
  {
    role: only('assistant'),
    content: anyOrNull('string'),
    reasoning: anyOrNull('string'),
    reasoning_content: anyOrNull('string'),
    tool_calls: list(members),
  },
  ['tool_calls'],
);
const head = { id: text, created: whole, model: text, system_fingerprint: text };
const model = {
  id: text,
  object: only('model'),
  created: whole,
  owned_by: text,
  root: text,
  parent: { type: 'null' },
  max_model_len: anyOrNull('integer'),
  type: only('model'),
  display_name: text,
  created_at: text,
  max_input_tokens: anyOrNull('integer'),
  max_tokens: anyOrNull('integer'),
};
const prediction = object(
  {
    ...{ model_name: text, response: text, reasoning: text, prompt_tokens: whole, completion_tokens: whole },
    finish_reason: { enum: ['length', 'repetition'] },
  },
  ['reasoning', 'finish_reason'],
);

/** Of prompts that are answered by no tokens. */
const promptUsage = object({ prompt_tokens: whole, total_tokens: whole });

const response = object({
  id: text,
  object: only('response'),
  created_at: whole,
  status: { enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] },
  error: anyOrNull('object'),
  incomplete_details: anyOrNull('object'),
  model: text,
  output: list(
    object({ id: text, type: { enum: ['reasoning', 'message', 'function_call', 'custom_tool_call'] } }),
  ),
  usage: anyOrNull('object'),
});
const anthropicMessage = object({
  id: text,
  type: only('message'),
  role: only('assistant'),
  model: text,
  content: list(object({ type: { enum: ['thinking', 'text', 'tool_use'] } })),
  stop_reason: { enum: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', null] },
  stop_sequence: anyOrNull('string'),
  usage: object({ input_tokens: whole, output_tokens: whole, cache_read_input_tokens: whole }),
});

/** Absent without a key, where there are keys; state and load are always present. */
const keyed = ['model', 'engine', 'failure'];
const health = {
  state: { enum: ['pulling', 'loading', 'serving', 'restarting', 'unloaded', 'draining', 'failed'] },
  model: text,
  load: anyOrNull('object'),
  engine: anyOrNull('object'),
  failure: anyOrNull('object'),
};

const schemas = {
  Root: object({
    name: text,
    status: only('alive'),
    version: text,
    state: text,
    models: list(text),
    openapi: text,
    routes: list(object({ method: text, path: text, summary: text })),
  }),
  OpenApi: object({ openapi: text, info: members, paths: members }),
  Version: object({ version: text, engine: anyOrNull('object') }),
  Health: object(health, keyed),
  InferenceReady: object({ ready: boolean, ...health }, keyed),
  InferenceLive: object({ live: boolean }),
  InferenceServer: object({ name: text, version: text, extensions: list(text) }),
  InferenceModel: object({
    name: text,
    versions: list(text),
    platform: text,
    inputs: list(object({ name: text, datatype: only('BYTES'), shape: list({ type: 'integer' }) })),
    outputs: list(object({ name: text, datatype: only('BYTES'), shape: list({ type: 'integer' }) })),
  }),
  Inference: object({
    model_name: text,
    id: text,
    parameters: object({ prompt_tokens: whole, completion_tokens: whole }),
    outputs: list(
      object({ name: text, datatype: only('BYTES'), shape: list(whole), data: list(text) }, ['data']),
    ),
  }),
  InferenceModelReady: object({ name: text, ready: boolean }),
  Load: object({ server_load: whole }),
  Alive: object({ alive: boolean }),
  Metrics: text,
  Page: text,
  /** One event. */
  StreamCheck: object({ data: text }),
  UiStatus: object({
    model: text,
    state: text,
    failure: anyOrNull('object'),
    load: anyOrNull('object'),
    engine: anyOrNull('object'),
    errors: list(object({ at: whole, route: anyOrNull('string'), code: text })),
  }),
  ChatCompletion: object({
    ...head,
    object: only('chat.completion'),
    choices: list(object({ index: whole, message, ...end })),
    usage: ref('Usage'),
  }),
  ChatCompletionChunk: object({
    ...head,
    object: only('chat.completion.chunk'),
    choices: list(object({ index: whole, delta: members, ...chunkEnd })),
  }),
  Completion: object({
    ...head,
    object: only('text_completion'),
    choices: list(object({ index: whole, text, ...end })),
    usage: ref('Usage'),
  }),
  CompletionChunk: object({
    ...head,
    object: only('text_completion'),
    choices: list(object({ index: whole, text, ...chunkEnd })),
  }),
  RenderedPrompt: object({
    request_id: text,
    model: text,
    token_ids: list(whole),
    features: { type: 'null' },
  }),
  RenderedPrompts: list(ref('RenderedPrompt')),
  Response: response,
  ResponseEvent: object({ type: text, sequence_number: whole }),
  Message: anthropicMessage,
  MessageEvent: object({ type: text }),
  TokenCount: object({ input_tokens: whole }),
  InputTokenCount: object({ object: only('response.input_tokens'), input_tokens: whole }),
  Embeddings: object({
    object: only('list'),
    model: text,
    data: list(
      object({
        object: only('embedding'),
        index: whole,
        embedding: { anyOf: [text, list({ type: 'number' })] },
      }),
    ),
    usage: promptUsage,
  }),
  Reranked: object({
    id: text,
    model: text,
    usage: promptUsage,
    results: list(
      object({ index: whole, document: object({ text }), relevance_score: { type: 'number' } }, ['document']),
    ),
  }),
  Scores: object({
    id: text,
    object: only('list'),
    created: whole,
    model: text,
    data: list(object({ index: whole, object: only('score'), score: { type: 'number' } })),
    usage: promptUsage,
  }),
  Classes: object({
    id: text,
    object: only('list'),
    created: whole,
    model: text,
    data: list(object({ index: whole, label: text, probs: list({ type: 'number' }), num_classes: whole })),
    usage: promptUsage,
  }),
  Models: object({
    object: only('list'),
    data: list(object(model)),
    models: list(text),
    has_more: only(false),
    first_id: text,
    last_id: text,
  }),
  Model: object({ ...model, name: text, ready: boolean }),
  Prediction: { anyOf: [prediction, object({ predictions: list(prediction) })] },
  Generated: object({
    id: text,
    model: text,
    text,
    finish_reason: finish,
    stop_reason: stopReason,
    usage: ref('Usage'),
  }),
  Tokens: object({
    count: whole,
    max_model_len: whole,
    tokens: list(whole),
    token_strs: { anyOf: [list(text), { type: 'null' }] },
  }),
  TokenizerInfo: object({
    tokenizer_class: text,
    bos_token: anyOrNull('string'),
    eos_token: anyOrNull('string'),
    pad_token: anyOrNull('string'),
    chat_template: anyOrNull('string'),
  }),
  Prompt: object({ prompt: text }),
  WarmedUp: object({ model: text, seconds: { type: 'number' }, usage: ref('Usage') }),
  ...storedAnswerSchemas,
} satisfies Record<string, JsonSchema>;

export type AnswerName = keyof typeof schemas;

export const answerSchemas: Readonly<Record<AnswerName, JsonSchema>> = schemas;

/** Parts of answers. */
export const sharedSchemas: Readonly<Record<string, JsonSchema>> = {
  AnthropicError: object({
    type: only('error'),
    error: object({
      type: { enum: anthropicErrorTypes },
      message: text,
      param: anyOrNull('string'),
      code: text,
    }),
    request_id: anyOrNull('string'),
  }),
  InferenceError: object({ error: text, code: text, param: anyOrNull('string') }),
  Usage: object({
    prompt_tokens: whole,
    completion_tokens: whole,
    total_tokens: whole,
    prompt_tokens_details: anyOrNull('object'),
    completion_tokens_details: anyOrNull('object'),
  }),
  Error: object({
    error: object({
      message: text,
      type: { enum: [...new Set(Object.values(replicaErrors).map(({ type }) => type))] },
      param: anyOrNull('string'),
      code: {
        type: 'string',
        description: `${Object.keys(replicaErrors).join(', ')}, or the reason of a failure of the service`,
      },
    }),
  }),
};
