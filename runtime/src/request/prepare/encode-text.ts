// A text, or its tokens as the client made them, as token ids that the model has.

import type { Tokenizer } from '../../tokens/tokenizer.js';
import { ApiError } from '../body/api-error.js';
import type { TextSource } from '../parse/parse-request.js';

/** @throws ApiError invalid_request, about the field `param` */
export async function encodeText(
  source: TextSource,
  { tokenizer, vocabSize }: { readonly tokenizer: Tokenizer; readonly vocabSize: number },
  param: string,
): Promise<Int32Array> {
  if (source.kind === 'text') {
    return tokenizer.encode(source.text, { addSpecialTokens: source.addSpecialTokens });
  }
  const unknown = source.ids.find((id) => id >= vocabSize);
  if (unknown === undefined) return Int32Array.from(source.ids);
  throw ApiError.of(
    'invalid_request',
    `${param} has the token id ${String(unknown)}, but the model's vocabulary ends at ${String(vocabSize - 1)}`,
    { param },
  );
}
