// A text as token ids that the model has.

import { TextRefusal } from '../../tokens/text-refusal.js';
import type { Tokenizer } from '../../tokens/tokenizer.js';
import { ApiError } from '../body/api-error.js';

/** What of a loaded model encoding needs. */
export interface TextModel {
  readonly tokenizer: Tokenizer;
  readonly vocabSize: number;
}

/** @throws ApiError invalid_request, about the field `param`; the signal's reason */
export async function encodeString(
  text: string,
  addSpecialTokens: boolean,
  { tokenizer, vocabSize }: TextModel,
  param: string,
  signal?: AbortSignal,
): Promise<Int32Array> {
  try {
    const ids = await tokenizer.encode(text, { addSpecialTokens, signal });
    requireKnown(ids, vocabSize, param);
    return ids;
  } catch (error) {
    if (!(error instanceof TextRefusal)) throw error;
    const message = `${param} cannot be tokenized: ${error.message}. Send a shorter text`;
    throw ApiError.of('invalid_request', message, { param });
  }
}

/**
 * Also of what a tokenizer gave: some have added tokens for which the model has no row.
 * @throws ApiError invalid_request, about the field `param`
 */
export function requireKnown(ids: Int32Array, vocabSize: number, param: string): void {
  const unknown = firstFrom(vocabSize, ids);
  if (unknown === null) return;
  const message = `${param} has the token id ${String(unknown)}, but the model's vocabulary ends at ${String(vocabSize - 1)}`;
  throw ApiError.of('invalid_request', message, { param });
}

/** Called for millions of ids, each of which a callback would cost ten times as much. */
function firstFrom(least: number, ids: Int32Array): number | null {
  for (let i = 0; i < ids.length; i++) if ((ids[i] ?? 0) >= least) return ids[i] ?? null;
  return null;
}
