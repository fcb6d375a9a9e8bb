// Regular expressions that end a text which arrives in pieces. An automaton follows each, so that a character costs the
// same however long the text is, nothing is held back, and the end is the first that any match has, however the pieces
// were cut.

import type { NFA, ReadonlyNFA } from 'refa';

type State = NFA.ReadonlyNode;

/** Of a pattern that no empty text matches. */
export class StopPattern {
  constructor(
    readonly source: string,
    readonly automaton: ReadonlyNFA,
  ) {}
}

/** One search of one text. */
export class PatternSearch {
  readonly source: string;
  readonly #automaton: ReadonlyNFA;
  /** Where matches that have begun stand, and where one may begin. */
  #states: ReadonlySet<State>;

  constructor({ source, automaton }: StopPattern) {
    this.source = source;
    this.#automaton = automaton;
    this.#states = new Set([automaton.initial]);
  }

  /**
   * Adds a piece of text. `mayEnd`: whether a match that ends in it counts.
   * @returns characters of the piece up to the end of a match; null: none ends in it
   */
  push(piece: string, mayEnd: boolean): number | null {
    const { finals, maxCharacter } = this.#automaton;
    for (let at = 0; at < piece.length;) {
      // A pattern that is none of Unicode's knows halves of characters.
      const character = (maxCharacter > 0xffff ? piece.codePointAt(at) : piece.charCodeAt(at)) ?? 0;
      at += character > 0xffff ? 2 : 1;
      this.#states = this.#after(character);
      if (mayEnd && [...this.#states].some((state) => finals.has(state))) return at;
    }
    return null;
  }

  /** What follows belongs to another text. */
  restart(): void {
    this.#states = new Set([this.#automaton.initial]);
  }

  #after(character: number): ReadonlySet<State> {
    const next = new Set<State>([this.#automaton.initial]);
    for (const { out } of this.#states)
      for (const [state, characters] of out) if (characters.has(character)) next.add(state);
    return next;
  }
}
