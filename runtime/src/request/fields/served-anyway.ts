// Fields of vLLM's, SGLang's and llama.cpp's requests with the values that ask for what happens in any case.

import { is, never } from '../body/field-schemas.js';
import type { JsonSchema } from '../body/field-table.js';

export const servedAnyway: Readonly<Record<string, JsonSchema>> = {
  // Reasoning stands apart from the answer, and is streamed.
  include_reasoning: is(true),
  separate_reasoning: is(true),
  stream_reasoning: is(true),
  // A chunk for each step.
  stream_interval: is(1),
  return_token_offsets: is(false),
  kv_transfer_params: never,
  lora_path: never,
  cache_prompt: is(true),
  timings_per_token: is(false),
  return_progress: is(false),
};
