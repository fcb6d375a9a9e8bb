// One value of each field that asks for something other than what happens without it, for a server whose answer is
// `Hi é!` and whose chat template ends in `!` where the model is not to think. A route's own comes before all routes'.

import type { OpenAiKind } from './openai-fields.js';

interface Sample {
  readonly value: unknown;
  /** Fields without which this one means nothing. */
  readonly beside?: object;
}

const tool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};

export const samples: Readonly<Record<string, Sample>> = {
  audio: { value: { voice: 'alloy', format: 'wav' } },
  best_of: { value: 2 },
  dimensions: { value: 1 },
  echo: { value: true },
  encoding_format: { value: 'base64' },
  frequency_penalty: { value: 0.5 },
  function_call: { value: { name: 'weather' } },
  functions: { value: [{ name: 'weather' }] },
  input: { value: ['x', 'y'] },
  logit_bias: { value: { 65: 5 } },
  'completions.logprobs': { value: 1 },
  logprobs: { value: true },
  max_completion_tokens: { value: 3 },
  max_tokens: { value: 3 },
  messages: { value: [{ role: 'user', content: 'other' }] },
  metadata: { value: { team: 'a' } },
  modalities: { value: ['audio'] },
  model: { value: 'small' },
  n: { value: 2 },
  parallel_tool_calls: { value: false, beside: { tools: [tool], tool_choice: 'required' } },
  prediction: { value: { type: 'content', content: 'Hi' } },
  presence_penalty: { value: 0.5 },
  prompt: { value: 'other' },
  prompt_cache_key: { value: 'a' },
  reasoning_effort: { value: 'none' },
  response_format: { value: { type: 'json_object' } },
  safety_identifier: { value: 'a' },
  seed: { value: 7 },
  service_tier: { value: 'flex' },
  stop: { value: 'é' },
  store: { value: true },
  stream: { value: true },
  stream_options: { value: { include_usage: true }, beside: { stream: true } },
  suffix: { value: 'x' },
  temperature: { value: 0.5 },
  tool_choice: { value: 'required', beside: { tools: [tool] } },
  tools: { value: [tool] },
  top_logprobs: { value: 2, beside: { logprobs: true } },
  top_p: { value: 0.5 },
  user: { value: 'a' },
  verbosity: { value: 'low' },
  web_search_options: { value: {} },
};

export const sampleOf = (kind: OpenAiKind, field: string): Sample | undefined =>
  samples[`${kind}.${field}`] ?? samples[field];

/** They tell of the caller and ask for nothing. */
export const labels: readonly string[] = ['metadata', 'prompt_cache_key', 'safety_identifier'];

/** Bodies with what is required alone. */
export const minimal: Readonly<Record<OpenAiKind, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  completions: { prompt: 'x' },
  embeddings: { input: 'x' },
};
