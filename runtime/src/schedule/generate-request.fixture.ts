// A request that asks for nothing in particular, for tests and benches to change where they care.

import type { SamplingParams } from '@llmservice/native';
import type { GenerateRequest } from './generation.js';

/** The likeliest token, no penalties, no logprobs. */
export const greedy: SamplingParams = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  seed: 0n,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  topLogprobs: null,
};

export function generateRequest(
  id: string,
  prompt: ArrayLike<number>,
  changes: Partial<GenerateRequest> = {},
): GenerateRequest {
  return {
    id,
    prompt: Int32Array.from(prompt),
    maxTokens: 16,
    pooling: 'none',
    stopTokens: Int32Array.of(),
    sampling: greedy,
    boundaries: [],
    cacheSalt: null,
    fairnessKey: '',
    priority: 0,
    maxQueueMs: null,
    ...changes,
  };
}
