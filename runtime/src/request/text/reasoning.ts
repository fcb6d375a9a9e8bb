// Where a model's reasoning begins and ends: tokens around it, which some chat templates write into the prompt themselves.

import type { ReasoningIds } from '@llmservice/native';

export interface ThinkIds {
  readonly begin: number;
  readonly end: number;
}

/** The end of a prompt that can still be open. */
const promptEndTokens = 8;

/** Whether what follows the prompt is reasoning. */
export function opensReasoning(prompt: Int32Array, { begin, end }: ThinkIds): boolean {
  const last = prompt.subarray(-promptEndTokens);
  return last.lastIndexOf(begin) > last.lastIndexOf(end);
}

/** The reasoning that may follow the prompt; null: none, where the prompt has ended it already. */
export function reasoningAfter(prompt: Int32Array, think: ThinkIds): ReasoningIds | null {
  const { begin, end } = think;
  if (opensReasoning(prompt, think)) return { begin: null, end };
  return prompt.subarray(-promptEndTokens).includes(end) ? null : { begin, end };
}
