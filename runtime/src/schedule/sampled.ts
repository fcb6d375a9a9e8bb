// Reads the columns of a step result as one record per sampled token, scored prompt token, or embedding.

import { finishCodes, type StepResult } from '@llmservice/native';
import type { PromptScore, Sampled, TokenLogprobs } from './generation.js';

/** Entry `index` of a step result, for the sequence `id`. */
export function sampledAt(result: StepResult, index: number, id: string, isDraft: boolean): Sampled {
  return {
    id,
    token: at(result.tokens, index),
    isDraft,
    logprobs: logprobsAt(result, index),
    finish: finishOf(at(result.finish, index)),
  };
}

/** Score `index` of a step result's prompt tokens; `token` stands there. */
export function scoreAt({ prompt }: StepResult, index: number, token: number): PromptScore {
  return {
    token,
    logprob: at(prompt.logprobs, index),
    rank: at(prompt.ranks, index),
    top: alternativesAt(prompt, index),
  };
}

/** Embedding `index` of a step result. */
export function embeddingAt({ embeddings: { slots, values } }: StepResult, index: number): Float32Array {
  const width = values.length / slots.length;
  return values.slice(index * width, (index + 1) * width);
}

/** Slots that hold drafts, and how many. */
export function draftsHeld({ drafts }: StepResult): Map<number, number> {
  const held = new Map<number, number>();
  for (let i = 0; i < drafts.length; i += 2 + at(drafts, i + 1)) held.set(at(drafts, i), at(drafts, i + 1));
  return held;
}

function finishOf(code: number): Sampled['finish'] {
  switch (code) {
    case finishCodes.none:
      return null;
    case finishCodes.stop:
      return 'stop';
    case finishCodes.length:
      return 'length';
    default:
      throw new Error(`finish code ${code} of a sequence without a fault`);
  }
}

/** NaN marks a sequence that did not ask. */
function logprobsAt(result: StepResult, index: number): TokenLogprobs | null {
  const logprob = at(result.logprobs, index);
  if (Number.isNaN(logprob)) return null;
  return { logprob, top: alternativesAt(result, index) };
}

type Alternatives = Pick<StepResult, 'topOffsets' | 'topTokens' | 'topLogprobs'>;

function alternativesAt(
  { topOffsets, topTokens, topLogprobs }: Alternatives,
  index: number,
): TokenLogprobs['top'] {
  const top = [];
  for (let i = at(topOffsets, index); i < at(topOffsets, index + 1); i++)
    top.push({ token: at(topTokens, i), logprob: at(topLogprobs, i) });
  return top;
}

function at(column: Int32Array | Uint8Array | Float32Array, index: number): number {
  const value = column[index];
  if (value === undefined) throw new Error(`step result has no entry ${index}: its columns differ in length`);
  return value;
}
