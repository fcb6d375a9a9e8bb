// The tokens around a model's reasoning: those that the configuration names, else <think> where the model has it.

import { FailureError } from '@llmservice/crds';
import type { Tokenizer } from '../../tokens/tokenizer.js';

export interface ThinkIds {
  readonly begin: number;
  readonly end: number;
}

/** Begin and end, as text. */
type ThinkTexts = readonly [string, string];

const think: ThinkTexts = ['<think>', '</think>'];

/** By the names of vLLM's parsers that separate the same; https://docs.vllm.ai/en/latest/features/reasoning_outputs/ */
export const reasoningParsers: ReadonlyMap<string, ThinkTexts> = new Map<string, ThinkTexts>([
  ['deepseek_r1', think],
  ['mistral', ['[THINK]', '[/THINK]']],
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
  const texts = reasoningParsers.get(parser ?? '') ?? think;
  const [begin, end] = texts.map((text) => tokenizer.tokenId(text) ?? Infinity);
  if (begin !== undefined && end !== undefined && Math.max(begin, end) < vocabSize) return { begin, end };
  if (parser === undefined) return null;
  throw new FailureError(
    'InvalidEngineConfig',
    `engine.reasoningParser is ${parser}, but the model has no tokens ${texts.join(' and ')}`,
  );
}
