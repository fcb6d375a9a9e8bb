// Turns a stream of token ids into text, whole characters only: bytes of an unfinished character wait for the
// next token. Cost is linear in the number of bytes. One instance per generated text.

/** Bytes of a token id; empty for ids that are to be left out. */
export type BytesOfId = (id: number) => Uint8Array;

/** Incremental decoder of one generation. */
export class Detokenizer {
  // A decoder in streaming mode holds back exactly the bytes of an unfinished character.
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #bytesOf: BytesOfId;

  constructor(bytesOf: BytesOfId) {
    this.#bytesOf = bytesOf;
  }

  /** Adds tokens; returns the characters that are complete now (may be empty). */
  push(ids: Iterable<number>): string {
    let text = '';
    for (const id of ids) text += this.#utf8.decode(this.#bytesOf(id), { stream: true });
    return text;
  }

  /** Ends the text: what is left of an unfinished character becomes U+FFFD. */
  flush(): string {
    return this.#utf8.decode();
  }
}
