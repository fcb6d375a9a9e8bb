import { expect, test } from '@jest/globals';
import { usageOf } from './answer-usage.js';
import { noUsage } from './batch.js';

test.each([
  [
    'a chat',
    {
      prompt_tokens: 5,
      completion_tokens: 7,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
    { inputTokens: 5, cachedTokens: 2, outputTokens: 7, reasoningTokens: 3 },
  ],
  [
    'a response',
    {
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 2 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 12,
    },
    { inputTokens: 5, cachedTokens: 2, outputTokens: 7, reasoningTokens: 3 },
  ],
  ['embeddings', { prompt_tokens: 5, total_tokens: 5 }, { ...noUsage, inputTokens: 5 }],
  [
    'a chat without details',
    { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: null },
    { ...noUsage, inputTokens: 5, outputTokens: 1 },
  ],
  ['an error', undefined, noUsage],
  ['none', null, noUsage],
])('of %s', (_, usage, expected) => {
  expect(usageOf(JSON.stringify({ id: 'x', choices: [{ usage: 1 }], usage }))).toEqual(expected);
});
