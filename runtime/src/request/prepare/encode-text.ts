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

/** Of a text in parts, between which no token reaches. @throws as `encodeString` */
export async function encodeParts(
  parts: readonly string[],
  addSpecialTokens: boolean,
  model: TextModel,
  param: string,
  signal?: AbortSignal,
): Promise<Int32Array> {
  const encoded: Int32Array[] = [];
  for (const [i, part] of parts.entries())
    encoded.push(await encodeString(part, addSpecialTokens && i === 0, model, param, signal));
  const [first = new Int32Array(), ...others] = encoded;
  return others.length === 0 ? first : Int32Array.from(encoded.flatMap((ids) => [...ids]));
}
