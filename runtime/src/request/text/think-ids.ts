// The tokens around a model's reasoning: those that the configuration names, else those that the model has.

import { FailureError } from '@llmservice/crds';
import type { Tokenizer } from '../../tokens/tokenizer.js';

export interface ThinkIds {
  readonly begin: number;
  readonly end: number;
  /** What models write behind the first token, and is none of the thought. */
  readonly label: string;
}

/** Begin and end, as text. */
interface ThinkTexts {
  readonly texts: readonly [string, string];
  readonly label: string;
}

const think: ThinkTexts = { texts: ['<think>', '</think>'], label: '' };
const mistral: ThinkTexts = { texts: ['[THINK]', '[/THINK]'], label: '' };
/** A channel, which its name opens. */
const gemma: ThinkTexts = { texts: ['<|channel>', '<channel|>'], label: 'thought\n' };

/** By the names of vLLM's parsers that separate the same; https://docs.vllm.ai/en/latest/features/reasoning_outputs/ */
export const reasoningParsers: ReadonlyMap<string, ThinkTexts> = new Map<string, ThinkTexts>([
  ['deepseek_r1', think],
  ['gemma4', gemma],
  ['glm45', think],
  ['mistral', mistral],
  ['qwen3', think],
]);

/**
 * @param vocabSize rows of the embedding
 * @param parser one of `reasoningParsers`
 * @returns null where none is named and the model has no such tokens, or no rows for them
 * @throws FailureError InvalidEngineConfig where one is named
 */
export function thinkIds(
  tokenizer: Tokenizer,
  vocabSize: number,
  parser: string | undefined,
): ThinkIds | null {
  const named = parser === undefined ? undefined : reasoningParsers.get(parser);
  for (const { texts, label } of named === undefined ? [think, gemma] : [named]) {
    const [begin, end] = texts.map((text) => tokenizer.tokenId(text) ?? Infinity);
    if (begin !== undefined && end !== undefined && Math.max(begin, end) < vocabSize)
      return { begin, end, label };
  }
  if (named === undefined) return null;
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.reasoningParser is ${String(parser)}, but the model has no tokens ${named.texts.join(' and ')}`,
  );
}
