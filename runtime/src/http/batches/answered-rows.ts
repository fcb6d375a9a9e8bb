// Answers of a batch that are not stored yet, as the lines of its two files. What is taken to be stored stays the same
// until it is known to be stored, so that it cannot be stored twice. Pure.

import { addUsage, noUsage, type BatchUsage, type Progress } from './batch.js';
import type { ContentPart } from './stored-file.js';

export interface AnsweredRow {
  readonly row: number;
  readonly isOk: boolean;
  /** Of its file, with its end. */
  readonly line: string;
  readonly usage: BatchUsage;
}

/** What is to be stored: the parts' bodies, and what the batch has of them. */
export interface TakenRows {
  readonly parts: readonly { readonly part: ContentPart; readonly body: Buffer }[];
  readonly progress: Progress;
}

export class AnsweredRows {
  #rows: AnsweredRow[] = [];
  #bytes = 0;
  #taken: TakenRows | null = null;

  /** Of lines, those that are taken included. */
  get bytes(): number {
    return this.#bytes;
  }

  add(row: AnsweredRow): void {
    this.#rows.push(row);
    this.#bytes += row.line.length;
  }

  /**
   * All that there are, until `stored` the same ones; null: there are none.
   * @param newKey of a part of the file with the answers, or of that with the errors
   */
  take(newKey: (isOk: boolean) => string): TakenRows | null {
    if (this.#taken !== null || this.#rows.length === 0) return this.#taken;
    const rows = this.#rows;
    this.#rows = [];
    const parts = [true, false].map((isOk) => {
      const lines = rows.filter((row) => row.isOk === isOk).map(({ line }) => line);
      const body = Buffer.from(lines.join(''));
      return lines.length === 0 ? null : { part: { key: newKey(isOk), bytes: body.length }, body };
    });
    const [output = null, failure = null] = parts;
    const completed = rows.filter(({ isOk }) => isOk).length;
    this.#taken = {
      parts: parts.filter((part) => part !== null),
      progress: {
        rows: rows.map(({ row }) => row),
        completed,
        failed: rows.length - completed,
        usage: rows.reduce((sum, { usage }) => addUsage(sum, usage), noUsage),
        output: output?.part ?? null,
        failure: failure?.part ?? null,
      },
    };
    return this.#taken;
  }

  /** What was taken is stored. */
  stored(): void {
    this.#taken = null;
    this.#bytes = this.#rows.reduce((sum, { line }) => sum + line.length, 0);
  }
}
