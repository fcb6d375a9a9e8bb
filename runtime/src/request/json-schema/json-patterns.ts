// A regular expression of a schema, over a text, as one over the characters that JSON writes for that text: the compiler
// of schemas puts it between the quotes as it is, so that what is no "a" may end the text, or be no JSON at all.

import {
  characters,
  maxRanges,
  plainText,
  tooMany,
  UnusablePattern,
  writePattern,
  type Alphabet,
  type Written,
} from './pattern-writer.js';

/** Characters that JSON writes with a backslash, and what it writes then. */
const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }).map(
    ([character, letter]) => [character.charCodeAt(0), letter],
  ),
);
const plain = characters([0x20, 0x21], [0x23, 0x5b], [0x5d, 0xd7ff], [0xe000, 0x10ffff]);

/** The patterns of one schema; each is written once, however often it is asked for. */
export class JsonPatterns {
  readonly #alphabet: Alphabet;
  readonly #written = new Map<string, Written>();
  #ranges = 0;

  /**
   * @param how.escaped whether a text may have characters that JSON writes with a backslash where others would do
   * @param how.quoted whether texts stand as JSON writes them, and not as they are
   */
  constructor({ escaped, quoted = true }: { readonly escaped: boolean; readonly quoted?: boolean }) {
    this.#alphabet = quoted ? { plain, escapes, escaped } : plainText;
  }

  /** For each place of the schema where the pattern stands. @throws UnusablePattern saying why */
  check(pattern: string): void {
    if (this.#ranges <= maxRanges) this.#ranges += this.#write(pattern).ranges;
    if (this.#ranges > maxRanges) throw new UnusablePattern(tooMany);
  }

  /**
   * The pattern, of which the whole text is to be an instance, from the first character to the last.
   * @throws UnusablePattern saying why
   */
  inJson(pattern: string): string {
    return this.#write(pattern).text;
  }

  #write(pattern: string): Written {
    const known = this.#written.get(pattern);
    if (known !== undefined) return known;
    const written = writePattern(pattern, this.#alphabet);
    this.#written.set(pattern, written);
    return written;
  }
}
