// Finds stop strings and patterns in text that arrives in pieces. Holds back only what could still become a stop string,
// and ends at the match that is complete first, however the pieces were cut.

import { PatternSearch, type StopPattern } from './stop-pattern.js';

/** Result of one piece: text that is safe to send, and the stop string or the pattern that ended generation, if any. */
export interface StopMatch {
  readonly text: string;
  readonly stop: string | null;
}

/** One instance per generated text; after a match nothing more may be pushed. */
export class StopMatcher {
  readonly #stops: readonly StopString[];
  readonly #patterns: readonly PatternSearch[];
  readonly #include: boolean;
  #held = '';

  /**
   * @param options.include whether the stop string itself is part of the text
   * @param options.patterns what matches one is part of the text
   */
  constructor(
    stops: readonly string[],
    { include, patterns = [] }: { readonly include: boolean; readonly patterns?: readonly StopPattern[] },
  ) {
    this.#stops = stops.filter((stop) => stop !== '').map((stop) => new StopString(stop));
    this.#patterns = patterns.map((pattern) => new PatternSearch(pattern));
    this.#include = include;
  }

  /** Adds a piece of text. `mayEnd`: whether a stop string or a match that ends in it counts. */
  push(piece: string, mayEnd = true): StopMatch {
    if (this.#patterns.length === 0) return this.#pushForStops(piece, mayEnd);
    const [first] = this.#patterns
      .map((search) => ({ end: search.push(piece, mayEnd) ?? Infinity, source: search.source }))
      .filter(({ end }) => end < Infinity)
      .sort((a, b) => a.end - b.end);
    if (first === undefined) return this.#pushForStops(piece, mayEnd);
    const match = this.#pushForStops(piece.slice(0, first.end), mayEnd);
    return match.stop === null ? { text: match.text + this.flush(), stop: first.source } : match;
  }

  #pushForStops(piece: string, mayEnd: boolean): StopMatch {
    if (this.#stops.length === 0) return { text: piece, stop: null };
    const text = this.#held + piece;
    for (let i = this.#held.length; i < text.length; i++) {
      const stop = this.#endAt(text.charCodeAt(i));
      if (stop === null || !mayEnd) continue;
      this.#held = '';
      return { text: text.slice(0, i + 1 - (this.#include ? 0 : stop.length)), stop };
    }
    const keep = this.#stops.reduce((most, { matched }) => Math.max(most, matched), 0);
    this.#held = text.slice(text.length - keep);
    return { text: text.slice(0, text.length - keep), stop: null };
  }

  /** Ends the text: what was held back was no stop string after all. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    for (const stop of this.#stops) stop.matched = 0;
    for (const search of this.#patterns) search.restart();
    return rest;
  }

  /** The longest stop string that the next character completes, or null. */
  #endAt(code: number): string | null {
    let ended: string | null = null;
    for (const stop of this.#stops) {
      if (stop.take(code) && stop.text.length > (ended?.length ?? 0)) ended = stop.text;
    }
    return ended;
  }
}

/** Follows one stop string as Knuth, Morris and Pratt do: the cost of a text does not grow with the stop's length. */
class StopString {
  /** How many of its first characters the text ends with. */
  matched = 0;
  /** Of its first n + 1 characters: how many of the last are its first too, and not all of them. */
  readonly #borders: Int32Array;

  constructor(readonly text: string) {
    this.#borders = new Int32Array(text.length);
    for (let i = 1; i < text.length; i++)
      this.#borders[i] = this.#longer(this.#borders[i - 1] ?? 0, text.charCodeAt(i));
  }

  /** Whether the next character completes it. */
  take(code: number): boolean {
    this.matched = this.#longer(this.matched, code);
    if (this.matched < this.text.length) return false;
    this.matched = this.#borders.at(-1) ?? 0;
    return true;
  }

  /** @param matched below the text's length */
  #longer(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.text.charCodeAt(length) !== code) length = this.#borders[length - 1] ?? 0;
    return this.text.charCodeAt(length) === code ? length + 1 : 0;
  }
}
