// Reads JSON of a shape that the caller knows, from bytes as they come. It builds no tree: what is not asked for is refused
// at its byte, so that nesting, counts and lengths are bounded before anything is kept. A step that needs more bytes
// throws `needsBytes` and is begun again with them; the caller commits each step that ended.

import { FailureError, parseJson } from '@llmservice/crds';

/** Thrown where what is asked for continues behind the bytes that are there. */
export const needsBytes = Symbol('what is asked for continues behind the bytes that are there');

const [quote, escape, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
const [zero, nine] = [0x30, 0x39];
const [tab, lineFeed, carriageReturn, blank] = [0x09, 0x0a, 0x0d, 0x20];

/** Of a whole number that a double holds. */
const maxDigits = 16;

/** Every method names `what` it was to read when the text is otherwise. @throws FailureError CheckpointCorrupt */
export class JsonBytes {
  readonly #file: string;
  readonly #maxStepBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  /** Where in the text `#bytes` begins. */
  #base = 0;
  /** Where in `#bytes` the step began, and where it stands. */
  #begin = 0;
  #at = 0;
  #hasEnded = false;
  /** What the step is about, for messages; null: nothing that has a name. */
  subject: string | null = null;

  /** @param maxStepBytes of one step, blanks included: more is never held. */
  constructor(file: string, maxStepBytes: number) {
    this.#file = file;
    this.#maxStepBytes = maxStepBytes;
  }

  /** Adds the bytes that follow; the step that needed them begins again. */
  feed(bytes: Uint8Array): void {
    const rest = this.#bytes.subarray(this.#begin);
    this.#base += this.#begin;
    this.#begin = 0;
    this.#at = 0;
    if (rest.length > this.#maxStepBytes) {
      throw this.corrupt(`an entry has more than ${String(this.#maxStepBytes)} bytes`);
    }
    this.#bytes = Buffer.concat([rest, bytes]);
  }

  /** No bytes follow: what needs more is refused. */
  end(): void {
    this.#hasEnded = true;
    this.#at = this.#begin;
  }

  /** What was read is done with. */
  commit(): void {
    this.#begin = this.#at;
  }

  /** @param at in the text; where the reader stands unless given */
  corrupt(problem: string, at = this.#base + this.#at): FailureError {
    const where = `${this.subject === null ? '' : `${this.subject}: `}at byte ${String(at)}`;
    return new FailureError('CheckpointCorrupt', `${this.#file}: ${where} ${problem}`, {
      file: this.#file,
      at,
    });
  }

  /** The byte that follows the blanks; null at the end of the text. */
  next(): number | null {
    const bytes = this.#bytes;
    let at = this.#at;
    while (isBlank(bytes[at])) at += 1;
    // Blanks before a step are no part of it.
    if (this.#at === this.#begin) this.#begin = at;
    this.#at = at;
    const byte = bytes[at];
    if (byte !== undefined) return byte;
    return this.#hasEnded ? null : this.#needBytes();
  }

  /** Passes over this character. */
  expect(character: string, what: string): void {
    const byte = this.next();
    if (byte !== character.charCodeAt(0)) throw this.#unexpected(`${character} of ${what}`, byte);
    this.#at += 1;
  }

  /** Passes over this character, if it follows. */
  takes(character: string): boolean {
    if (this.next() !== character.charCodeAt(0)) return false;
    this.#at += 1;
    return true;
  }

  string(maxBytes: number, what: string): string {
    const { begin, end, isPlain } = this.#stringRange(maxBytes, what);
    if (isPlain) return this.#bytes.toString('utf8', begin + 1, end - 1);
    return this.#parsed(begin, end, what) as string;
  }

  skipString(maxBytes: number, what: string): void {
    this.#stringRange(maxBytes, what);
  }

  /** A whole number that is not negative. */
  count(what: string): number {
    if (!isDigit(this.next() ?? undefined)) throw this.#unexpected(what, this.next());
    const bytes = this.#bytes;
    const begin = this.#at;
    let at = begin;
    let value = 0;
    for (; isDigit(bytes[at]); at += 1) value = value * 10 + (bytes[at] as number) - zero;
    if (at === bytes.length && !this.#hasEnded) {
      if (at - begin > maxDigits) throw this.corrupt(`${what} is larger than any file`);
      this.#needBytes();
    }
    if (at - begin > maxDigits || !Number.isSafeInteger(value)) {
      throw this.corrupt(`${what} is larger than any file`);
    }
    if (at - begin > 1 && bytes[begin] === zero) throw this.corrupt(`${what} begins with 0`);
    this.#at = at;
    return value;
  }

  /** Any value, of bounded size and depth. */
  value(maxBytes: number, maxLevels: number, what: string): unknown {
    this.next();
    const begin = this.#at;
    this.#skipValue(begin, maxBytes, maxLevels, what);
    return this.#parsed(begin, this.#at, what);
  }

  #skipValue(begin: number, maxBytes: number, maxLevels: number, what: string): void {
    let levels = 0;
    do {
      const byte = this.next();
      if (byte === null) throw this.corrupt(`the text ends within ${what}`);
      if (this.#at - begin > maxBytes) throw this.corrupt(`${what} has more than ${String(maxBytes)} bytes`);
      if (byte === quote) {
        this.#stringRange(maxBytes, what);
        continue;
      }
      if (byte === openArray || byte === openObject) levels += 1;
      if (byte === closeArray || byte === closeObject) levels -= 1;
      if (levels > maxLevels) {
        throw this.corrupt(`${what} is nested deeper than ${String(maxLevels)} levels`);
      }
      // What encloses the value follows it.
      if (levels < 0) throw this.corrupt(`${what} is missing`);
      this.#at += 1;
      if (levels === 0 && byte !== closeArray && byte !== closeObject) this.#skipWord();
    } while (levels > 0);
  }

  /** The rest of a number, or of true, false or null. */
  #skipWord(): void {
    while (/[\w.+-]/.test(String.fromCharCode(this.#bytes[this.#at] ?? 0))) this.#at += 1;
    if (this.#at === this.#bytes.length && !this.#hasEnded) this.#needBytes();
  }

  #stringRange(maxBytes: number, what: string): { begin: number; end: number; isPlain: boolean } {
    const first = this.next();
    if (first !== quote) throw this.#unexpected(what, first);
    const bytes = this.#bytes;
    const begin = this.#at;
    // Those two in which it stands count too.
    const most = Math.min(bytes.length, begin + maxBytes + 2);
    let isPlain = true;
    let at = begin + 1;
    for (; at < most; at += 1) {
      const byte = bytes[at] as number;
      if (byte === quote) {
        this.#at = at + 1;
        return { begin, end: at + 1, isPlain };
      }
      if (byte === escape) {
        isPlain = false;
        at += 1;
      } else if (byte < blank) throw this.corrupt(`${what} has a control character`, this.#base + at);
    }
    if (at >= begin + maxBytes + 2) throw this.corrupt(`${what} has more than ${String(maxBytes)} bytes`);
    if (this.#hasEnded) throw this.corrupt(`the text ends within ${what}`);
    return this.#needBytes();
  }

  #parsed(begin: number, end: number, what: string): unknown {
    try {
      return parseJson(what, this.#bytes.toString('utf8', begin, end));
    } catch (error) {
      throw this.corrupt((error as Error).message, this.#base + begin);
    }
  }

  #needBytes(): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a way out of the depth, caught by SteppedReader
    throw needsBytes;
  }

  #unexpected(what: string, byte: number | null): FailureError {
    const found = byte === null ? 'the text ends' : `is ${JSON.stringify(String.fromCharCode(byte))}`;
    return this.corrupt(`${found} where ${what} is expected`);
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === blank || byte === lineFeed || byte === carriageReturn || byte === tab;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}
