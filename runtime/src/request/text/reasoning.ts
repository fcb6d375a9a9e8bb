// Where a model's reasoning begins and ends: tokens around it, which some chat templates write into the prompt themselves.

import type { ReasoningIds } from '@llmservice/native';

export interface ThinkIds {
  readonly begin: number;
  readonly end: number;
}

/** The end of a prompt that can still be open, before what is continued. */
const promptEndTokens = 8;

/** Whether what follows the prompt is reasoning already. */
export const isOpen = (reasoning: ReasoningIds | null): boolean => reasoning?.begin === null;

/**
 * The reasoning that may follow the prompt; null: none, where the prompt has ended it already.
 * @param eosIds tokens that end messages
 * @param continuedTokens of the message that the answer continues with, whose thought may be long
 */
export function reasoningAfter(
  prompt: Int32Array,
  { begin, end }: ThinkIds,
  eosIds: readonly number[],
  continuedTokens = 0,
): ReasoningIds | null {
  const last = openEnd(prompt, eosIds, continuedTokens);
  const [begun, ended] = [last.lastIndexOf(begin), last.lastIndexOf(end)];
  if (begun > ended) return { begin: null, end };
  return ended === -1 ? { begin, end } : null;
}

/** Of a message that has ended the user may have written anything; not every template ends a user's with a token. */
function openEnd(prompt: Int32Array, eosIds: readonly number[], continuedTokens: number): Int32Array {
  const last = prompt.subarray(-promptEndTokens - continuedTokens);
  return last.subarray(last.findLastIndex((token) => eosIds.includes(token)) + 1);
}
