// Answers as JSON whose lists may have millions of entries, such as the log probabilities of 32 choices: made and written
// an entry at a time, so that neither the list is ever whole nor the event loop held up.

import { randomUUID } from 'node:crypto';
import type { Steps } from '../../loop-turns.js';

/** Characters that are turned into bytes at once. */
const partChars = 2 ** 16;

/** A list whose entries are made when they are written. */
export class LongList {
  /** @param entry of an index; called for each in turn, and for all again where the list is written again */
  constructor(
    readonly length: number,
    readonly entry: (index: number) => unknown,
  ) {}

  /** For JSON.stringify, where the list is short. */
  toJSON(): unknown[] {
    return Array.from({ length: this.length }, (_, index) => this.entry(index));
  }
}

export class LongJson {
  /** What stands before, between and behind the lists. */
  readonly #between: readonly string[];
  readonly #lists: readonly LongList[];

  /** @param value in whose objects and lists of objects a LongList may stand */
  constructor(value: object) {
    const mark = randomUUID();
    const lists: LongList[] = [];
    const marked = (each: unknown): unknown => {
      if (each instanceof LongList) {
        lists.push(each);
        return mark;
      }
      if (typeof each !== 'object' || each === null) return each;
      if (Array.isArray(each) && typeof each[0] !== 'object') return each;
      const before = lists.length;
      const inner = Object.entries(each).map(([name, value]) => [name, marked(value)] as const);
      // What has no list, such as a number written exactly, stays what it is.
      if (lists.length === before) return each;
      return Array.isArray(each) ? inner.map(([, value]) => value) : Object.fromEntries(inner);
    };
    this.#between = JSON.stringify(marked(value)).split(`"${mark}"`);
    this.#lists = lists;
  }

  /** Entries of all its lists. */
  get entries(): number {
    return this.#lists.reduce((sum, { length }) => sum + length, 0);
  }

  /** In UTF-8; an entry is a step. */
  *parts(): Steps<Buffer[]> {
    const parts: Buffer[] = [];
    let text = this.#between[0] ?? '';
    for (const [at, list] of this.#lists.entries()) {
      text += '[';
      for (let i = 0; i < list.length; i++) {
        text += `${i === 0 ? '' : ','}${JSON.stringify(list.entry(i))}`;
        if (text.length >= partChars) {
          parts.push(Buffer.from(text));
          text = '';
        }
        yield;
      }
      text += `]${this.#between[at + 1] ?? ''}`;
    }
    parts.push(Buffer.from(text));
    return parts;
  }
}
