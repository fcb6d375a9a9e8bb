// Tokens that an answer of any of the batches' routes says it took. Pure.

import type { Fields } from '../../request/body/field-table.js';
import { noUsage, type BatchUsage } from './batch.js';
import { memberText } from './member-text.js';

/** @param body JSON, which may be megabytes: only what is needed of it is parsed */
export function usageOf(body: string): BatchUsage {
  const text = memberText(body, 'usage');
  const usage = text === null ? null : (JSON.parse(text) as Fields | null);
  if (usage === null) return noUsage;
  return {
    inputTokens: count(usage, 'prompt_tokens') + count(usage, 'input_tokens'),
    cachedTokens:
      count(usage['prompt_tokens_details'], 'cached_tokens') +
      count(usage['input_tokens_details'], 'cached_tokens'),
    outputTokens: count(usage, 'completion_tokens') + count(usage, 'output_tokens'),
    reasoningTokens:
      count(usage['completion_tokens_details'], 'reasoning_tokens') +
      count(usage['output_tokens_details'], 'reasoning_tokens'),
  };
}

function count(of: unknown, name: string): number {
  const value = typeof of === 'object' && of !== null ? (of as Fields)[name] : undefined;
  return typeof value === 'number' ? value : 0;
}
