// What judges a prompt where the model does: tokens whose logits behind it are those of labels, or a head on the hidden state
// of its last token. From what the engine gives to logits, and from logits to probabilities and scores.

import type { Labels } from '@llmservice/checkpoint';
import type { DenseLayer } from '@llmservice/checkpoint/local';
import type { EngineOutput } from '../../engine/protocol.js';
import type { Steps } from '../../loop-turns.js';
import { through } from './dense-layers.js';

/** A label for each of some tokens: Qwen3-Reranker's "no" and "yes". */
export interface TokenClassifier extends Labels {
  readonly kind: 'tokens';
  /** Ids, one per label, each once. */
  readonly tokens: readonly number[];
}

/** A head in place of the one that generates, as transformers' classes for sequence classification have it. */
export interface HeadClassifier extends Labels {
  readonly kind: 'head';
  /** From the hidden state to the labels' logits. */
  readonly layers: readonly DenseLayer[];
  /** Which hidden state it reads. */
  readonly pooling: 'last' | 'cls';
}

export type Classifier = TokenClassifier | HeadClassifier;

/**
 * One per label, of tokens up to a constant of the prompt; null: the output is none of a judged prompt.
 * @throws FailureError EngineNumericalFault
 */
export function* logitsOf(classifier: Classifier, output: EngineOutput): Steps<readonly number[] | null> {
  return classifier.kind === 'tokens' ? ofTokens(classifier, output) : yield* ofHead(classifier, output);
}

function ofTokens({ tokens }: TokenClassifier, { logprobs }: EngineOutput): readonly number[] | null {
  const top = logprobs?.[0]?.top;
  if (top === undefined) return null;
  return tokens.map((id) => {
    const found = top.find(({ token }) => token === id);
    if (found === undefined) throw new Error(`the engine reported nothing of token ${String(id)}`);
    return found.logprob;
  });
}

function* ofHead({ layers }: HeadClassifier, { embedding }: EngineOutput): Steps<readonly number[] | null> {
  return embedding === null ? null : Array.from(yield* through(layers, embedding));
}

/** Each label's probability, or its logit without activation. */
export function probabilitiesOf(
  { activation }: Classifier,
  logits: readonly number[],
  activates: boolean,
): readonly number[] {
  if (!activates || activation === 'none') return logits;
  return activation === 'sigmoid' ? logits.map(sigmoid) : softmax(logits);
}

/** Whether its logits make one score: of two tokens, or of one label. */
export const isScorer = ({ kind, names }: Classifier): boolean =>
  names.length === (kind === 'tokens' ? 2 : 1);

/** Of two tokens the second's probability, of one label its own; or without activation the log-odds. */
export function scoreOf(
  { kind, activation }: Classifier,
  [first = NaN, second = NaN]: readonly number[],
  activates: boolean,
): number {
  const logit = kind === 'tokens' ? second - first : first;
  return activates && activation !== 'none' ? sigmoid(logit) : logit;
}

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

function softmax(logits: readonly number[]): readonly number[] {
  const largest = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - largest));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
