// The reference implementation's tokenizer of a tokenizer.json, as prompts need it.

import { Tokenizer as ReferenceTokenizer } from 'tokenizers';

export type { Tokenizer as ReferenceTokenizer } from 'tokenizers';

/** @throws Error when the file is none that it knows */
export function referenceTokenizer(json: string): ReferenceTokenizer {
  const reference = ReferenceTokenizer.fromString(json);
  // Files saved after training may carry the trainer's truncation and padding; prompts want neither.
  reference.disableTruncation();
  reference.disablePadding();
  return reference;
}
