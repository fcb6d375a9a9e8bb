// A text, or its tokens as the client made them, as token ids that the model has.

import { encodeString, requireKnown, type TextModel } from '../fields/encode-string.js';
import type { TextSource } from '../fields/prompt.js';

/** The name of a field, and which of its entries where it has several. */
export const placeIn = (field: string, entries: readonly unknown[], entry: unknown): string =>
  entries.length > 1 ? `${field}.${String(entries.indexOf(entry))}` : field;

/** @throws ApiError invalid_request, about the field `param`; the signal's reason */
export async function encodeText(
  source: TextSource,
  model: TextModel,
  param: string,
  signal?: AbortSignal,
): Promise<Int32Array> {
  if (source.kind === 'text') return encodeString(source.text, source.addSpecialTokens, model, param, signal);
  const ids = Int32Array.from(source.ids);
  requireKnown(ids, model.vocabSize, param);
  return ids;
}
