// How much of a sequence may be cached and reused, and where hybrid models keep their recurrent state. An attention
// model's KV has the same bits whether prefill or decode computed it; a hybrid's differ beyond the prompt's last
// multiple of 64, where the recurrent form begins, and its blocks are of use only with the state at their end.

import { chunkMultiple } from './plan-builder.js';
import type { Sequence } from './sequence.js';

export class ReuseRules {
  /** Tokens per block. */
  readonly blockSize: number;
  readonly hybrid: boolean;
  /** Reuse ends on a multiple of this: a whole block, and on hybrids a whole chunk of prefill too. */
  readonly unit: number;

  constructor(blockSize: number, hybrid: boolean) {
    this.blockSize = blockSize;
    this.hybrid = hybrid;
    this.unit = hybrid ? Math.max(blockSize, chunkMultiple) : blockSize;
  }

  /** Whole blocks among the first `computed` tokens that others may use. */
  cacheableBlocks({ request }: Sequence, computed: number): number {
    const chunkedUntil = floorTo(request.prompt.length, chunkMultiple);
    return Math.floor((this.hybrid ? Math.min(computed, chunkedUntil) : computed) / this.blockSize);
  }

  /** Where the sequence itself may start at most: at least its last known token is always computed. */
  longestReuse(sequence: Sequence): number {
    const chunkedUntil = floorTo(sequence.request.prompt.length, chunkMultiple);
    const known = sequence.length - 1;
    return floorTo(this.hybrid ? Math.min(known, chunkedUntil) : known, this.unit);
  }

  /**
   * Positions at which a sequence's state is worth keeping, ascending: the end of its prompt, for its next turn; the
   * ends of its first and last message, for chats that share the system prompt and for edits of the last question;
   * and the point where it leaves what is cached, for whatever else comes that way.
   *
   * @param cached where the sequence starts
   * @param matched how far its tokens are cached, with or without a state
   */
  savePlaces(sequence: Sequence, cached: number, matched: number): number[] {
    if (!this.hybrid) return [];
    const end = this.longestReuse(sequence);
    const { boundaries } = sequence.request;
    const wanted = [end, matched, boundaries.at(0) ?? 0, boundaries.at(-1) ?? 0];
    const places = new Set(wanted.map((position) => floorTo(Math.min(position, end), this.unit)));
    return [...places].filter((place) => place > cached).sort((a, b) => a - b);
  }
}

function floorTo(value: number, multiple: number): number {
  return Math.floor(value / multiple) * multiple;
}
