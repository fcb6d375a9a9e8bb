// A tokenizer's ids as bytes, for grammars over them.

import type { Vocabulary } from '@llmservice/native';
import type { Tokenizer } from './tokenizer.js';

/**
 * Markers such as the end of a turn or of reasoning count as no text, so that no string of an answer holds one: their
 * letters can be written with ordinary tokens.
 * @param size ids of the model, which may be more than the tokenizer's
 * @param stopTokens ids that end a text
 */
export function vocabularyOf(tokenizer: Tokenizer, size: number, stopTokens: readonly number[]): Vocabulary {
  const pieces = Array.from({ length: size }, (_, id) =>
    tokenizer.isMarker(id) ? noBytes : tokenizer.tokenBytes(id),
  );
  const ends = new Uint32Array(size);
  let end = 0;
  pieces.forEach((piece, id) => (ends[id] = end += piece.length));
  const bytes = new Uint8Array(end);
  pieces.forEach((piece, id) => bytes.set(piece, (ends[id] ?? 0) - piece.length));
  return { bytes, ends, stopTokens: Int32Array.from(stopTokens.filter((id) => id < size)) };
}

const noBytes = new Uint8Array(0);
