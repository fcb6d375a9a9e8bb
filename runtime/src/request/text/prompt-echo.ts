// The prompt before an answer, as OpenAI's echo has it: its text, and its tokens' log probabilities where asked for.

import type { PromptScore } from '../../engine/protocol.js';
import type { TextDelta } from './text-stream.js';

export interface PromptEcho {
  readonly text: string;
  readonly ids: Int32Array;
}

/** @param logprobs alternatives to report per token; null: no log probabilities */
export function withPrompt(
  delta: TextDelta,
  { text, ids }: PromptEcho,
  scores: readonly PromptScore[],
  logprobs: number | null,
): TextDelta {
  const content = text + delta.content;
  if (logprobs === null) return { ...delta, content };
  // Nothing stands before the first token that could make it likely or unlikely.
  const tokens = Array.from(ids, (id, index) => {
    const score = index === 0 ? undefined : scores[index - 1];
    if (score === undefined) return { id, logprobs: null };
    return { id, logprobs: { logprob: score.logprob, top: score.top.slice(0, logprobs) } };
  });
  return { ...delta, content, logprobs: [...tokens, ...delta.logprobs] };
}
