// What reasoning may follow a prompt's tokens: of prompts that a chat template wrote alone is reasoning separated.

import type { ReasoningIds } from '@llmservice/native';
import { encodeString, type TextModel } from '../fields/encode-string.js';
import type { MessagesSource, PromptSource } from '../parse/prompt-source.js';
import { reasoningAfter, type ThinkIds } from '../text/reasoning.js';

interface ReasoningModel extends TextModel {
  readonly think: ThinkIds | null;
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
  return reasoningAfter(prompt, model.think, model.eosIds, await continuedTokens(source, model, signal));
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
