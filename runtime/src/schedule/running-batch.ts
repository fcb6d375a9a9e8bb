// The running batch: the sequences that hold a slot, oldest first, and the KV blocks of their tables. Invariants: a slot
// has one owner, and its blocks leave with it; the youngest entered last, and is the first to be preempted.

import type { PlanBuilder } from './plan-builder.js';
import type { Match, PrefixCache } from './prefix-cache.js';
import type { Running, Sequence } from './sequence.js';

export class RunningBatch {
  readonly #cache: PrefixCache;
  readonly #blockSize: number;
  readonly #freeSlots: number[];
  readonly #running: Running[] = [];
  readonly #bySlot = new Map<number, Running>();
  #released: number[] = [];
  /** Of the sequence that left a slot last. */
  readonly #blocksLeft = new Map<number, readonly number[]>();

  constructor(slots: number, blockSize: number, cache: PrefixCache) {
    this.#cache = cache;
    this.#blockSize = blockSize;
    this.#freeSlots = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  }

  get length(): number {
    return this.#running.length;
  }

  get isFull(): boolean {
    return this.#freeSlots.length === 0;
  }

  /** Who may be preempted next. */
  get youngest(): Running | null {
    return this.#running.at(-1) ?? null;
  }

  /** Oldest first. The youngest may leave meanwhile. */
  [Symbol.iterator](): IterableIterator<Running> {
    return this.#running.values();
  }

  /** Who holds a slot now. */
  inSlot(slot: number): Running | undefined {
    return this.#bySlot.get(slot);
  }

  /** The sequence of this request. */
  find(id: string): Running | undefined {
    return this.#running.find(({ sequence }) => sequence.request.id === id);
  }

  /** Whether it still holds its slot. */
  holds(running: Running): boolean {
    return this.#bySlot.get(running.slot) === running;
  }

  /** Gives a sequence a slot, with the blocks that the cache has of it. */
  enter(step: PlanBuilder, sequence: Sequence, match: Match): Running {
    const slot = this.#freeSlots.pop();
    if (slot === undefined) throw new Error('no slot is free');
    const running: Running = {
      sequence,
      slot,
      blocks: match.path.map(({ block }) => block),
      path: [...match.path],
      savePlaces: this.#cache.savePlaces(sequence, match),
      computed: match.cached,
      drafts: 0,
      verifying: 0,
      verifyingAhead: 0,
    };
    this.#running.push(running);
    this.#bySlot.set(slot, running);
    step.admit(running, this.#cache.hold(match));
    for (const block of running.blocks) step.append(slot, block);
    return running;
  }

  /** Takes a sequence's slot and blocks back. `spoilt`: what it computed must not be reused. */
  leave(running: Running, spoilt = false): void {
    this.#cache.release(running, spoilt);
    this.#running.splice(this.#running.lastIndexOf(running), 1);
    this.#bySlot.delete(running.slot);
    this.#freeSlots.push(running.slot);
    this.#released.push(running.slot);
    this.#blocksLeft.set(running.slot, running.blocks);
  }

  /** Blocks that the engine still has in tables of sequences that left: it hears of that with the next step. */
  get blocksOfReleased(): ReadonlySet<number> {
    return new Set(this.#released.flatMap((slot) => this.#blocksLeft.get(slot) ?? []));
  }

  /** Slots whose sequences left since this was last asked. */
  takeReleased(): number[] {
    const released = this.#released;
    this.#released = [];
    return released;
  }

  /** Slots that the engine has not been sent after all. */
  putBackReleased(slots: Iterable<number>): void {
    this.#released = [...slots, ...this.#released];
  }

  /** Blocks that a sequence of so many tokens fills or begins. */
  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockSize);
  }

  /** Tokens that a sequence's blocks have place for. */
  capacity({ blocks }: Running): number {
    return blocks.length * this.#blockSize;
  }

  /** Takes a block for a sequence. @throws when none is available */
  takeBlock(step: PlanBuilder, running: Running): void {
    const block = this.#cache.take();
    running.blocks.push(block);
    step.append(running.slot, block);
  }

  /** Gives back the block that a sequence took last, which the engine has not been sent after all. */
  giveBackBlock(running: Running): void {
    const block = running.blocks.pop();
    if (block !== undefined) this.#cache.giveBack(block);
  }

  /** Takes blocks for `tokens` tokens of a sequence, as far as there are any and it can come to need them. */
  takeSpareBlocks(step: PlanBuilder, running: Running, tokens: number): void {
    const wanted = this.blocksFor(Math.min(tokens, running.sequence.maxComputed));
    while (running.blocks.length < wanted && this.#cache.available > 0) this.takeBlock(step, running);
  }
}
