// Lines of a text that comes in parts, as bytes and with their numbers. Lines without anything in them are left out, and
// of one that is too long nothing is kept. Pure.

export interface Line {
  /** From 1, those that are left out included. */
  readonly number: number;
  /** Without its end; null: it is longer than a line may be. */
  readonly bytes: Buffer | null;
}

const lineFeed = 0x0a;
const blanks = new Set([0x20, 0x09, 0x0d]);
const byteOrderMark = Buffer.from('\ufeff');

export class LineReader {
  /** Of the line that has not ended; empty for one that is too long already. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #number = 1;

  constructor(private readonly maxBytes: number) {}

  /** Lines that end in the next part. */
  *push(part: Buffer): Generator<Line> {
    let begin = 0;
    for (;;) {
      const end = part.indexOf(lineFeed, begin);
      this.#take(part.subarray(begin, end === -1 ? part.length : end));
      if (end === -1) return;
      yield* this.#line();
      begin = end + 1;
    }
  }

  /** The last line, where no line feed ended it. */
  *end(): Generator<Line> {
    yield* this.#line();
  }

  #take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.maxBytes) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  *#line(): Generator<Line> {
    const number = this.#number;
    const isTooLong = this.#bytes > this.maxBytes;
    const bytes = isTooLong ? null : this.#whole(number);
    this.#parts = [];
    this.#bytes = 0;
    this.#number += 1;
    if (bytes === null || bytes.some((byte) => !blanks.has(byte))) yield { number, bytes };
  }

  #whole(number: number): Buffer {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    const isMarked = number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark);
    return isMarked ? bytes.subarray(byteOrderMark.length) : bytes;
  }
}
