// Pairs of texts by a model that embeds: each text that differs is embedded once, and a pair's score is the cosine of its two.

import type { GenerateRequest } from '../../engine/protocol.js';
import { ApiError } from '../body/api-error.js';
import type { ModelTexts } from './model-texts.js';
import type { Pair } from './pair-prompt.js';
import type { PairsRequest } from './parse-scores.js';
import { encodePrompt } from './prepare-generation.js';
import { poolingRequest, requireWhole } from './prompt-request.js';

/** A query or a document. */
export interface Side {
  readonly text: string;
  /** Its place in the request, of several the first. */
  readonly param: string;
}

export function sidesOf(pairs: readonly Pair[]): readonly Side[] {
  const sides = new Map<string, Side>();
  for (const { query, document, param, queryParam } of pairs) {
    if (!sides.has(query)) sides.set(query, { text: query, param: queryParam });
    if (!sides.has(document)) sides.set(document, { text: document, param });
  }
  return [...sides.values()];
}

/** @throws ApiError invalid_request: embedders have prompts of their own, which no field names */
export function requireNoInstruction({ instruction }: PairsRequest): void {
  if (instruction === null) return;
  const message =
    'instruction is for models that judge a pair at once; this one embeds each text by itself: write it into the query';
  throw ApiError.of('invalid_request', message, { param: 'instruction' });
}

/** @throws ApiError context_length_exceeded, invalid_request; the signal's reason */
export async function prepareSide(
  request: PairsRequest,
  { text, param }: Side,
  id: string,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<GenerateRequest> {
  const how = { maxPromptTokens: model.maxModelLen, named: param, signal };
  const prompt = await encodePrompt({ kind: 'text', text, addSpecialTokens: true }, null, model, param, how);
  requireWhole(prompt, param, model.maxModelLen);
  return poolingRequest(id, prompt, model.pooling, request);
}

/** @param embeddings of the sides, each of length 1 */
export function cosinesOf(
  pairs: readonly Pair[],
  sides: readonly Side[],
  embeddings: readonly Float32Array[],
): readonly number[] {
  const byText = new Map(sides.map(({ text }, i) => [text, embeddings[i] ?? new Float32Array()]));
  const embeddingOf = (text: string): Float32Array => byText.get(text) ?? new Float32Array();
  return pairs.map(({ query, document }) => {
    const other = embeddingOf(document);
    const cosine = embeddingOf(query).reduce((sum, value, i) => sum + value * (other[i] ?? NaN), 0);
    // Lengths are 1 as far as floats go.
    return Math.max(-1, Math.min(1, cosine));
  });
}
