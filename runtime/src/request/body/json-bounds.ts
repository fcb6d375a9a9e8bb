// How deep a body, and JSON that it has as text, may be nested, and how many members its objects may have. JSON's reader
// takes any of both: what goes through the result afterwards calls itself for each level and has no stack for ten
// thousand, and a million names in one object take seconds, in which nobody is answered. So bytes are looked at before.

/** Several times what conversations and schemas of tools have. */
const mostLevels = 128;
/** More than a context of 262,144 tokens holds of messages that say anything, or of tools. */
const mostMembers = 100_000;

const [quote, escape, colon] = [0x22, 0x5c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The bounds of one text, or of several whose members count together. */
export class JsonBounds {
  #members = 0;

  /** What is too much of JSON in UTF-8, for a message that says whose it is; null: nothing, or it is no JSON. */
  excessOf(json: Uint8Array): string | null {
    let levels = 0;
    let inString = false;
    for (let i = 0; i < json.length; i++) {
      const byte = json[i];
      if (byte === escape) i += 1;
      else if (byte === quote) inString = !inString;
      else if (inString) continue;
      else if (byte === colon) {
        this.#members += 1;
        if (this.#members > mostMembers) return `has more than ${String(mostMembers)} members in its objects`;
      } else if (byte === openObject || byte === openArray) {
        levels += 1;
        if (levels > mostLevels) return `is nested deeper than ${String(mostLevels)} levels`;
      } else if (byte === closeObject || byte === closeArray) {
        levels -= 1;
      }
    }
    return null;
  }
}
