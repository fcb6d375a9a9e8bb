// Lines that wait to be written, oldest first, up to a bound in bytes. What takes them may take less than whole lines.

/** What is reported of the lines of a log. */
export interface LineEvents {
  linesWritten(count: number): void;
  lineLost(): void;
  writeFailed(): void;
}

export class LineBuffer {
  readonly #maxBytes: number;
  #lines: Buffer[] = [];
  /** Of `#lines`. */
  #bytes = 0;
  /** Bytes of the first line that are written already. */
  #begun = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False: there is no room for it. */
  add(text: string): boolean {
    const line = Buffer.from(text);
    if (this.#bytes + line.length > this.#maxBytes) return false;
    this.#lines.push(line);
    this.#bytes += line.length;
    return true;
  }

  /** What is not written yet: as many lines as fit, and the first in any case. */
  head(maxBytes = Infinity): Buffer {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#lines) {
      if (count > 0 && bytes + length > maxBytes) break;
      count += 1;
      bytes += length;
    }
    return Buffer.concat(this.#lines.slice(0, count)).subarray(this.#begun);
  }

  /** Forgets so many bytes of what is not written yet. @returns lines that are written with them */
  forget(bytes: number): number {
    let [count, left] = [0, this.#begun + bytes];
    for (const line of this.#lines) {
      if (left < line.length) break;
      left -= line.length;
      this.#bytes -= line.length;
      count += 1;
    }
    this.#lines = this.#lines.slice(count);
    this.#begun = left;
    return count;
  }

  /** A line that is written in part is written whole again. */
  restartLine(): void {
    this.#begun = 0;
  }
}
