// Finds stop strings in text that arrives in pieces. Holds back only what could still become a stop string,
// and ends at the match that is complete first, however the pieces were cut.

/** Result of one piece: text that is safe to send, and the stop string that ended generation, if any. */
export interface StopMatch {
  readonly text: string;
  readonly stop: string | null;
}

/** One instance per generated text; after a match nothing more may be pushed. */
export class StopMatcher {
  readonly #stops: readonly string[];
  readonly #include: boolean;
  readonly #longest: number;
  #held = '';

  /** @param options.include whether the stop string itself is part of the text */
  constructor(stops: readonly string[], options: { readonly include: boolean }) {
    this.#stops = stops.filter((stop) => stop !== '');
    this.#include = options.include;
    this.#longest = Math.max(0, ...this.#stops.map((stop) => stop.length));
  }

  /** Adds a piece of text. */
  push(piece: string): StopMatch {
    if (this.#longest === 0) return { text: piece, stop: null };
    const text = this.#held + piece;
    const match = this.#earliest(text);
    if (match !== null) {
      this.#held = '';
      return { text: text.slice(0, match.index + (this.#include ? match.stop.length : 0)), stop: match.stop };
    }
    const keep = this.#possiblePrefixLength(text);
    this.#held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stop: null };
  }

  /** Ends the text: what was held back was no stop string after all. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  /** The match that ends first (so pieces do not matter); of those, the longest. */
  #earliest(text: string): { index: number; stop: string } | null {
    let best: { index: number; stop: string } | null = null;
    for (const stop of this.#stops) {
      const index = text.indexOf(stop);
      if (index === -1) continue;
      const sooner = best === null ? -1 : index + stop.length - (best.index + best.stop.length);
      if (sooner < 0 || (sooner === 0 && best !== null && index < best.index)) best = { index, stop };
    }
    return best;
  }

  /** Length of the longest end of `text` that begins some stop string. */
  #possiblePrefixLength(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#stops.some((stop) => stop.length > length && stop.startsWith(end))) return length;
    }
    return 0;
  }
}
