// What reasoning may follow a prompt's tokens, which some chat templates open or end themselves: of prompts that a chat template
// wrote alone is reasoning separated.

import type { ReasoningIds } from '@llmservice/native';
import { encodeString, type TextModel } from '../fields/encode-string.js';
import type { MessagesSource, PromptSource } from '../parse/prompt-source.js';
import type { ThinkIds } from '../text/think-ids.js';

interface ReasoningModel extends TextModel {
  readonly think: Pick<ThinkIds, 'begin' | 'end'> | null;
  readonly eosIds: readonly number[];
}

/** @throws ApiError invalid_request; the signal's reason */
export async function promptReasoning(
  prompt: Int32Array,
  source: PromptSource,
  model: ReasoningModel,
  signal?: AbortSignal,
): Promise<ReasoningIds | null> {
  if (source.kind !== 'messages' || model.think === null) return null;
  const continued = await continuedTokens(source, model, signal);
  return reasoningAfter(prompt, model.think, model.eosIds, continued);
}

/** Of the message that the answer continues with. */
async function continuedTokens(
  { messages, ending }: MessagesSource,
  model: ReasoningModel,
  signal: AbortSignal | undefined,
): Promise<number> {
  const last = messages.at(-1);
  if (ending !== 'continue' || last === undefined) return 0;
  return (await encodeString(last.content, false, model, 'messages', signal)).length;
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
  { begin, end }: Pick<ThinkIds, 'begin' | 'end'>,
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
