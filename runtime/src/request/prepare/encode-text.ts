// A text, or its tokens as the client made them, as token ids that the model has.

import type { Tokenizer } from '../../tokens/tokenizer.js';
import { ApiError } from '../body/api-error.js';
import type { TextSource } from '../parse/parse-request.js';

/** The name of a field, and which of its entries where it has several. */
export const placeIn = (field: string, entries: readonly unknown[], entry: unknown): string =>
  entries.length > 1 ? `${field}.${String(entries.indexOf(entry))}` : field;

/** @throws ApiError invalid_request, about the field `param` */
export async function encodeText(
  source: TextSource,
  { tokenizer, vocabSize }: { readonly tokenizer: Tokenizer; readonly vocabSize: number },
  param: string,
): Promise<Int32Array> {
  const ids =
    source.kind === 'text'
      ? await tokenizer.encode(source.text, { addSpecialTokens: source.addSpecialTokens })
      : Int32Array.from(source.ids);
  requireKnown(ids, vocabSize, param);
  return ids;
}

/**
 * Also of what a tokenizer gave: some have added tokens for which the model has no row.
 * @throws ApiError invalid_request, about the field `param`
 */
export function requireKnown(ids: Int32Array, vocabSize: number, param: string): void {
  const unknown = ids.find((id) => id >= vocabSize);
  if (unknown === undefined) return;
  const message = `${param} has the token id ${String(unknown)}, but the model's vocabulary ends at ${String(vocabSize - 1)}`;
  throw ApiError.of('invalid_request', message, { param });
}
