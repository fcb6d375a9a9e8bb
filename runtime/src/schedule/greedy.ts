// Sampling that asks for nothing in particular.

import type { SamplingParams } from '@llmservice/native';

/** The likeliest token, no penalties, no logprobs. */
export const greedy: SamplingParams = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  typicalP: 1,
  seed: 0n,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  topLogprobs: null,
};
