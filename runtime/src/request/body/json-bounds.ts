// How deep a body, and JSON that it has as text, may be nested, and how many values it may have. JSON's reader takes any
// number: what goes through the result afterwards calls itself for each level and has no stack for ten thousand, and a
// million names, or four million lists of one number, take seconds, in which nobody is answered. So bytes are scanned
// before. What the bounds let pass takes JSON.parse some 50 ms at worst: it keeps each new name and short string in a table.

import type { Steps } from '../../loop-turns.js';

/** Several times what conversations and schemas of tools have. */
const maxLevels = 128;
/** Of 25,000 messages: a context of 262,144 tokens holds as many of ten tokens each. */
const maxMembers = 50_000;
/** As many lists and objects: each is some 30 times the work of a number. */
const maxContainers = 50_000;
/** Names are among them. */
const maxStrings = 2 ** 17;
/** 2,048 inputs of 256 token ids each, or a context of them twice over. */
const maxValues = 2 ** 19;

const [quote, escape, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The bounds of one text, or of several whose values count together. */
export class JsonBounds {
  #members = 0;
  #containers = 0;
  #strings = 0;
  /** Those that have another one behind them: all but one of each list and object. */
  #values = 0;

  /** Of the text under way. */
  #levels = 0;
  #inString = false;
  /** Whether the next byte stands behind a backslash. */
  #isEscaped = false;

  /** Values so far. */
  get values(): number {
    return this.#values;
  }

  /** What is too much of JSON in UTF-8, for a message that says whose it is; null: nothing, or it is no JSON. */
  excessOf(json: Uint8Array): string | null {
    this.#begin();
    return this.#excessOfPart(json);
  }

  /** The same of JSON that came in parts, each of which is a step. */
  *excessOfParts(parts: readonly Uint8Array[]): Steps<string | null> {
    this.#begin();
    for (const part of parts) {
      const excess = this.#excessOfPart(part);
      if (excess !== null) return excess;
      yield;
    }
    return null;
  }

  #begin(): void {
    this.#levels = 0;
    this.#inString = false;
    this.#isEscaped = false;
  }

  #excessOfPart(json: Uint8Array): string | null {
    let levels = this.#levels;
    let inString = this.#inString;
    let i = this.#isEscaped ? 1 : 0;
    for (; i < json.length; i++) {
      const byte = json[i];
      if (byte === escape) i += 1;
      else if (byte === quote) {
        inString = !inString;
        if (inString && ++this.#strings > maxStrings) return `has more than ${String(maxStrings)} strings`;
      } else if (inString) continue;
      else if (byte === comma) {
        this.#values += 1;
        if (this.#values >= maxValues) return `has more than ${String(maxValues)} values`;
      } else if (byte === colon) {
        this.#members += 1;
        if (this.#members > maxMembers) return `has more than ${String(maxMembers)} members in its objects`;
      } else if (byte === openObject || byte === openArray) {
        levels += 1;
        if (levels > maxLevels) return `is nested deeper than ${String(maxLevels)} levels`;
        this.#containers += 1;
        if (this.#containers > maxContainers)
          return `has more than ${String(maxContainers)} lists and objects`;
      } else if (byte === closeObject || byte === closeArray) {
        levels -= 1;
      }
    }
    this.#levels = levels;
    this.#inString = inString;
    // The last byte was a backslash.
    this.#isEscaped = i > json.length;
    return null;
  }
}
