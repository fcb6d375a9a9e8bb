// Where the tokens of one text begin in it, given token by token: in code points, as clients in Python count.

import { Detokenizer, type BytesOfId } from '../../tokens/detokenizer.js';

/** One instance per text. */
export class TextPlaces {
  readonly #detokenizer: Detokenizer;
  #completed = 0;

  constructor(bytesOf: BytesOfId) {
    this.#detokenizer = new Detokenizer(bytesOf);
  }

  /** Of the next token: how many characters those before it have completed. One that is left out completes none. */
  next(id: number, isLeftOut: boolean): number {
    const place = this.#completed;
    if (!isLeftOut) this.#completed += Array.from(this.#detokenizer.push([id])).length;
    return place;
  }
}
