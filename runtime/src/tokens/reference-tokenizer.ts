// The reference implementation's tokenizer of a tokenizer.json, as prompts need it.

import { Tokenizer as ReferenceTokenizer } from 'tokenizers';

export type { Tokenizer as ReferenceTokenizer } from 'tokenizers';

/** @throws Error when the file is none that it knows, which says what was expected and no text of the file */
export function referenceTokenizer(json: string): ReferenceTokenizer {
  const reference = read(json);
  // Files saved after training may carry the trainer's truncation and padding; prompts want neither.
  reference.disableTruncation();
  reference.disablePadding();
  return reference;
}

function read(json: string): ReferenceTokenizer {
  let problem: string;
  try {
    return ReferenceTokenizer.fromString(json);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  // It quotes texts that are in the wrong place, and no other values.
  throw new Error(problem.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '"…"'));
}
