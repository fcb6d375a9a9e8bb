// One value of each field that asks for something other than what happens without it, for a server that thinks, whose
// answer is `Hi é!` and whose chat template ends in `!` where the model is not to think. A route's own comes before all routes'.

import type { ClientKind } from './client-fields.js';
import { uploads } from './send-body.js';

interface Sample {
  readonly value: unknown;
  /** Fields without which this one has no effect. */
  readonly beside?: object;
}

const tool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};

const flatTool = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };
/** Id of a response that the server has stored. */
export const earlierResponse = 'resp_earlier';
/** Id of a conversation that the server has stored. */
export const storedConversationId = 'conv_earlier';
const anthropicTool = { name: 'weather', input_schema: { type: 'object', properties: {} } };

export const samples: Readonly<Record<string, Sample>> = {
  access_programs: { value: { cyber: 'daybreak_blue' } },
  audio: { value: { voice: 'alloy', format: 'wav' } },
  background: { value: true },
  best_of: { value: 2 },
  cache_control: { value: { type: 'ephemeral' } },
  completion_window: { value: '24h' },
  conversation: { value: storedConversationId },
  dimensions: { value: 1 },
  echo: { value: true },
  encoding_format: { value: 'base64' },
  endpoint: { value: '/v1/completions' },
  expires_after: { value: { anchor: 'created_at', seconds: 3600 } },
  file: { value: '{"a": 1}' },
  frequency_penalty: { value: 0.5 },
  function_call: { value: { name: 'weather' } },
  functions: { value: [{ name: 'weather' }] },
  image: { value: { context_compression: 'enabled' } },
  include: { value: ['reasoning.encrypted_content'] },
  input_file_id: { value: uploads.other },
  'responses.input': { value: 'other' },
  input: { value: ['x', 'y'] },
  instructions: { value: 'Be brief.' },
  logit_bias: { value: { 65: 5 } },
  'completions.logprobs': { value: 1 },
  logprobs: { value: true },
  max_completion_tokens: { value: 3 },
  max_output_tokens: { value: 3 },
  max_tokens: { value: 3 },
  max_tool_calls: { value: 3 },
  messages: { value: [{ role: 'user', content: 'other' }] },
  'batches.metadata': { value: { team: 'a' } },
  'messages.metadata': { value: { user_id: 'a' } },
  metadata: { value: { team: 'a' } },
  modalities: { value: ['audio'] },
  model: { value: 'small' },
  n: { value: 2 },
  output_config: { value: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  'responses.stream_options': { value: { include_obfuscation: true }, beside: { stream: true } },
  'responses.parallel_tool_calls': {
    value: false,
    beside: { tools: [flatTool], tool_choice: 'required' },
  },
  output_expires_after: { value: { anchor: 'created_at', seconds: 3600 } },
  parallel_tool_calls: { value: false, beside: { tools: [tool], tool_choice: 'required' } },
  prediction: { value: { type: 'content', content: 'Hi' } },
  presence_penalty: { value: 0.5 },
  prompt: { value: 'other' },
  previous_response_id: { value: earlierResponse },
  prompt_cache_key: { value: 'a' },
  prompt_cache_options: { value: { mode: 'explicit', ttl: '12h' } },
  prompt_cache_retention: { value: '24h' },
  purpose: { value: 'batch' },
  reasoning: { value: { effort: 'none' } },
  reasoning_effort: { value: 'none' },
  response_format: { value: { type: 'json_object' } },
  safety_identifier: { value: 'a' },
  seed: { value: 7 },
  service_tier: { value: 'flex' },
  stop: { value: 'é' },
  stop_sequences: { value: ['é'] },
  store: { value: true },
  stream: { value: true },
  stream_options: { value: { include_usage: true }, beside: { stream: true } },
  suffix: { value: 'x' },
  system: { value: 'Be brief.' },
  temperature: { value: 0.5 },
  text: { value: { format: { type: 'json_object' } } },
  thinking: { value: { type: 'enabled', budget_tokens: 1024 } },
  'messages.tool_choice': { value: { type: 'any' }, beside: { tools: [anthropicTool] } },
  'responses.tool_choice': { value: 'required', beside: { tools: [flatTool] } },
  tool_choice: { value: 'required', beside: { tools: [tool] } },
  'messages.tools': { value: [anthropicTool] },
  'responses.tools': { value: [flatTool] },
  tools: { value: [tool] },
  'responses.top_logprobs': { value: 2, beside: { include: ['message.output_text.logprobs'] } },
  top_logprobs: { value: 2, beside: { logprobs: true } },
  top_p: { value: 0.5 },
  truncation: { value: 'auto' },
  user: { value: 'a' },
  verbosity: { value: 'low' },
  web_search_options: { value: {} },
};

export const sampleOf = (kind: ClientKind, field: string): Sample | undefined =>
  samples[`${kind}.${field}`] ?? samples[field];

/** They ask for what happens in any case, and no answer repeats them. */
const servedAnyway: readonly string[] = [
  'completion_window',
  'prompt_cache_options',
  'prompt_cache_retention',
  'purpose',
  'service_tier',
  'store',
  'truncation',
  'verbosity',
];

/** They describe the caller and ask for nothing. */
export const labels: readonly string[] = [
  'cache_control',
  'metadata',
  'prompt_cache_key',
  'safety_identifier',
];

/** Whether it changes nothing: a response repeats what it was asked, and the metadata of messages says whose they are. */
export const asksForNothing = (kind: ClientKind, field: string): boolean =>
  servedAnyway.includes(field) ||
  (labels.includes(field) && kind !== 'responses' && samples[`${kind}.${field}`] === undefined);

/** Bodies with what is required alone. */
export const minimal: Readonly<Record<ClientKind, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  completions: { prompt: 'x' },
  embeddings: { input: 'x' },
  responses: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 },
  files: { purpose: 'batch', file: '{}' },
  batches: { input_file_id: uploads.one, endpoint: '/v1/chat/completions', completion_window: '24h' },
};
