// What judges a prompt where the model does: tokens whose logits behind it are those of labels. From what the engine gives
// to logits, and from logits to probabilities and scores.

import type { EngineOutput } from '../../engine/protocol.js';

/** A label for each of some tokens: Qwen3-Reranker's "no" and "yes". */
export interface Classifier {
  readonly labels: readonly string[];
  /** Ids, one per label, each once. */
  readonly tokens: readonly number[];
}

/** One per label, up to a constant of the prompt; null: the output is none of a judged prompt. */
export function logitsOf({ tokens }: Classifier, { logprobs }: EngineOutput): readonly number[] | null {
  const top = logprobs?.[0]?.top;
  if (top === undefined) return null;
  return tokens.map((id) => {
    const found = top.find(({ token }) => token === id);
    if (found === undefined) throw new Error(`the engine reported nothing of token ${String(id)}`);
    return found.logprob;
  });
}

/** Each label's probability (softmax), or its logit without activation. */
export function probabilitiesOf(logits: readonly number[], activates: boolean): readonly number[] {
  if (!activates) return logits;
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - largest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** The second label's probability, or its log-odds without activation. */
export function scoreOf([no = 0, yes = 0]: readonly number[], activates: boolean): number {
  return activates ? 1 / (1 + Math.exp(no - yes)) : yes - no;
}
