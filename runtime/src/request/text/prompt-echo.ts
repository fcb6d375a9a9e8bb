// The prompt before an answer, as OpenAI's echo has it: its text, and its tokens' log probabilities where asked for.

import type { PromptScore } from '../../engine/protocol.js';
import type { Detokenizer } from '../../tokens/detokenizer.js';
import type { GeneratedToken, TextDelta } from './text-stream.js';

export interface PromptEcho {
  readonly text: string;
  readonly ids: Int32Array;
  /** Indices of the ids that the text has nothing of. */
  readonly leftOut: ReadonlySet<number>;
}

interface EchoTexts {
  isSpecial(id: number): boolean;
  tokenText(id: number): string;
  detokenizer(options: { readonly skipSpecialTokens: boolean }): Detokenizer;
}

/**
 * The echo of a text as its client wrote it: a special token that the tokenizer put into it is left out, one that the
 * client spelled is not.
 */
export function echoOfText(text: string, ids: Int32Array, texts: EchoTexts): PromptEcho {
  const leftOut = new Set<number>();
  const others = texts.detokenizer({ skipSpecialTokens: true });
  let at = 0;
  ids.forEach((id, index) => {
    const own = texts.isSpecial(id) ? texts.tokenText(id) : others.push([id]);
    if (texts.isSpecial(id) && !text.startsWith(own, at)) leftOut.add(index);
    else at += own.length;
  });
  return { text, ids, leftOut };
}

/** The echo of ids. */
export function echoOfIds(ids: Int32Array, skipSpecialTokens: boolean, texts: EchoTexts): PromptEcho {
  const text = texts.detokenizer({ skipSpecialTokens });
  const leftOut = new Set<number>();
  ids.forEach((id, index) => {
    if (skipSpecialTokens && texts.isSpecial(id)) leftOut.add(index);
  });
  return { text: text.push(ids) + text.flush(), ids, leftOut };
}

/** @param logprobs alternatives to report per token; null: no log probabilities */
export function withPrompt(
  delta: TextDelta,
  { text, ids, leftOut }: PromptEcho,
  scores: readonly PromptScore[],
  logprobs: number | null,
): TextDelta {
  const content = text + delta.content;
  if (logprobs === null) return { ...delta, content };
  // Nothing stands before the first token that could make it likely or unlikely.
  const tokens = Array.from(ids, (id, index): GeneratedToken => {
    const score = index === 0 ? undefined : scores[index - 1];
    const isLeftOut = leftOut.has(index);
    if (score === undefined) return { id, logprobs: null, isLeftOut };
    return { id, logprobs: { logprob: score.logprob, top: score.top.slice(0, logprobs) }, isLeftOut };
  });
  return { ...delta, content, logprobs: [...tokens, ...delta.logprobs] };
}
