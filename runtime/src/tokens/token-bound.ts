// How many tokens a text has at least, in one walk over it and without its encoding: a text that cannot fit into the context
// is refused before it costs anything. A character counts for what the longest token gives it that can hold it at its
// place, so that the sum over each token is 1 at most. A known tokenizer loses nothing of a text but by composing.

import type { Steps } from '../loop-turns.js';
import { isKnownTokenizer } from './known-tokenizer.js';
import { bytesOfToken, type TokenSpelling } from './token-bytes.js';

const encoder = new TextEncoder();

/** Characters below U+0080; all others are treated as one kind. */
const asciiEnd = 0x80;
/** Of one step: it takes some milliseconds. */
const stepChars = 2 ** 17;

interface BoundedFile {
  readonly normalizer?: unknown;
  readonly pre_tokenizer?: unknown;
  readonly added_tokens?: readonly { readonly content?: unknown }[];
  readonly model?: { readonly vocab?: Readonly<Record<string, number>>; readonly byte_fallback?: unknown };
}

export class TokenBound {
  /** By a character and the one before it, as `previous * 128 + character`: bytes of the longest token with both, or that begins with the character. */
  readonly #longest = new Uint32Array(asciiEnd * asciiEnd);
  /** Bytes of the longest token with a byte of another character; of any, where such characters may become ASCII. */
  #longestOther = 1;
  readonly #composes: boolean;

  private constructor(tokens: readonly Uint8Array[], composes: boolean) {
    this.#composes = composes;
    for (const token of tokens) this.#add(token);
  }

  /**
   * Null: the tokenizer may leave out any part of a text.
   * @param file a parsed tokenizer.json
   */
  static of(file: unknown, spelling: TokenSpelling): TokenBound | null {
    if (!isKnownTokenizer(file)) return null;
    const { normalizer, pre_tokenizer: preTokenizer, added_tokens: added, model } = file as BoundedFile;
    const [normalizers, preTokenizers] = [normalizer, preTokenizer].map((each) =>
      JSON.stringify(each ?? null),
    );
    const composes = normalizers?.includes('"NFC"') === true;
    // SentencePiece writes its spaces so, and the bytes of its tokens have spaces again. Other steps make characters fewer.
    const others = normalizers?.replace('"pattern":{"String":" "},"content":"▁"', '') ?? '';
    if (/"NFK?D"|"NFKC"|"content"/.test(others) || preTokenizers?.includes('"Removed"') === true) return null;
    const spellsBytes =
      spelling === 'byteLevel' ? preTokenizers?.includes('"ByteLevel"') : model?.byte_fallback === true;
    const tokens = Object.keys(model?.vocab ?? {}).map((token) => bytesOfToken(token, spelling));
    // Of a byte without a token the model makes nothing, or one token of many.
    const singles = new Set(tokens.flatMap((token) => (token.length === 1 ? [token[0]] : [])));
    if (spellsBytes !== true || singles.size < 256) return null;
    const contents = (added ?? []).map(({ content }) => encoder.encode(String(content)));
    return new TokenBound([...tokens, ...contents], composes);
  }

  /** For each text a number that its encoding has at least; 0 for one that may be empty for the model. */
  *fewestTokens(texts: readonly string[]): Steps<number[]> {
    const fewest: number[] = [];
    for (const text of texts) {
      let sum = 0;
      for (let from = 0; from < text.length; from += stepChars) {
        sum += this.#sumOf(text, from, Math.min(text.length, from + stepChars));
        yield;
      }
      // Sums of fractions are off by less.
      fewest.push(Math.ceil(sum * (1 - 1e-9)));
    }
    return fewest;
  }

  /** What the characters between two places count for. */
  #sumOf(text: string, from: number, to: number): number {
    let sum = 0;
    let previous = from === 0 ? 0 : text.charCodeAt(from - 1);
    let code = text.charCodeAt(from);
    for (let i = from; i < to; i++) {
      const next = text.charCodeAt(i + 1);
      if (code >= asciiEnd) sum += this.#ofOther(code);
      // Neither composed with what follows it, nor behind a composition whose bytes are not known.
      else if (!this.#composes || !(next >= asciiEnd || previous >= asciiEnd))
        sum += 1 / this.#longestAt(previous, code);
      previous = code;
      code = next;
    }
    return sum;
  }

  /** A composition has a third of its characters' bytes at least. */
  #ofOther(code: number): number {
    const bytes = code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    return bytes / ((this.#composes ? 3 : 1) * this.#longestOther);
  }

  #longestAt(previous: number, code: number): number {
    return this.#longest[(previous < asciiEnd ? previous : 0) * asciiEnd + code] || 1;
  }

  #add(token: Uint8Array): void {
    const { length } = token;
    if (this.#composes) this.#longestOther = Math.max(this.#longestOther, length);
    token.forEach((byte, i) => {
      if (byte >= asciiEnd) {
        this.#longestOther = Math.max(this.#longestOther, length);
        return;
      }
      const before = i === 0 ? null : (token[i - 1] ?? 0);
      // Behind anything: it begins the token, or its predecessor is of another kind.
      if (before === null || before >= asciiEnd) {
        for (let any = 0; any < asciiEnd; any++) this.#raise(any, byte, length);
      } else {
        this.#raise(before, byte, length);
      }
    });
  }

  #raise(previous: number, code: number, length: number): void {
    const at = previous * asciiEnd + code;
    this.#longest[at] = Math.max(this.#longest[at] ?? 1, length);
  }
}
