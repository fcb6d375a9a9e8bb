// Where a model's reasoning begins and ends: tokens around it, which some chat templates write into the prompt themselves.

import type { ReasoningIds } from '@llmservice/native';

export interface ThinkIds {
  readonly begin: number;
  readonly end: number;
}

/** The end of a prompt that can still be open. */
const promptEndTokens = 8;

/**
 * Whether what follows the prompt is reasoning.
 * @param eosIds tokens that end messages
 */
export function opensReasoning(
  prompt: Int32Array,
  { begin, end }: ThinkIds,
  eosIds: readonly number[],
): boolean {
  const last = openEnd(prompt, eosIds);
  return last.lastIndexOf(begin) > last.lastIndexOf(end);
}

/**
 * The reasoning that may follow the prompt; null: none, where the prompt has ended it already.
 * @param eosIds tokens that end messages
 */
export function reasoningAfter(
  prompt: Int32Array,
  think: ThinkIds,
  eosIds: readonly number[],
): ReasoningIds | null {
  const { begin, end } = think;
  if (opensReasoning(prompt, think, eosIds)) return { begin: null, end };
  return openEnd(prompt, eosIds).includes(end) ? null : { begin, end };
}

/** Of a message that has ended the user may have written anything. */
function openEnd(prompt: Int32Array, eosIds: readonly number[]): Int32Array {
  const last = prompt.subarray(-promptEndTokens);
  return last.subarray(last.findLastIndex((token) => eosIds.includes(token)) + 1);
}
