// Prompts that two engines share: what one's prefix cache has of a prompt is held for another to read, and what another
// computed becomes a part of the prefix cache here. Nobody finds blocks before they are filled; from then on they are
// entries as any, and evicted as any.

import type { GenerateRequest } from './generation.js';
import type { PinnedPrompt, PrefixCache } from './prefix-cache.js';
import type { RunningBatch } from './running-batch.js';
import { Sequence } from './sequence.js';
import type { Snapshot } from './snapshot-pool.js';
import type { CachedBlock } from './cached-block.js';

/** What is held for another engine. */
export interface OfferedPrompt {
  readonly pinned: PinnedPrompt;
  /** Of the prompt, behind those that the other has. */
  readonly blocks: readonly number[];
  /** Place of the state behind the last of them; null: it needs none. */
  readonly snapshot: number | null;
  /** Tokens up to the end of the last one. */
  readonly tokens: number;
}

/** A prompt that another engine is to compute, with what is here of it held. */
export interface ExpectedPrompt {
  readonly pinned: PinnedPrompt;
  /** Blocks that are here. */
  readonly blocks: number;
  /** Tokens that it would start behind as it is. */
  readonly cached: number;
  /** Whole blocks of the prompt that are not here. */
  readonly missing: number;
}

/** Places that nobody else has, to be filled. */
export interface FillRoom {
  readonly blocks: readonly number[];
  readonly snapshot: Snapshot<CachedBlock> | null;
}

export class PromptShare {
  readonly #cache: PrefixCache;
  readonly #limits: { readonly maxModelLen: number; readonly hybrid: boolean; readonly blockSize: number };
  readonly #batch: Pick<RunningBatch, 'length' | 'blocksOfReleased'>;

  constructor(
    cache: PrefixCache,
    limits: { readonly maxModelLen: number; readonly hybrid: boolean; readonly blockSize: number },
    batch: Pick<RunningBatch, 'length' | 'blocksOfReleased'>,
  ) {
    this.#cache = cache;
    this.#limits = limits;
    this.#batch = batch;
  }

  /** Tokens of a request's prompt that are to be computed; 0: no other engine can do so. */
  lacking(request: GenerateRequest): number {
    const { prompt, pooling, promptLogprobs, adapter } = request;
    const { maxModelLen } = this.#limits;
    if (pooling !== 'none' || promptLogprobs || adapter !== null || prompt.length >= maxModelLen) return 0;
    const { queried, cached } = this.#cache.find(this.#sequence(request));
    return queried === 0 ? 0 : prompt.length - cached;
  }

  /** Holds what is here of a prompt that has been computed, but for the first blocks, until `endOffer`. */
  offer(request: GenerateRequest, from: number): OfferedPrompt {
    const pinned = this.#cache.pin(this.#sequence(request), true);
    const { path, snapshot } = pinned;
    return {
      pinned,
      blocks: path.slice(from).map(({ block }) => block),
      snapshot: snapshot?.index ?? null,
      tokens: path.length * this.#limits.blockSize,
    };
  }

  endOffer({ pinned }: OfferedPrompt): void {
    this.#cache.unpin(pinned);
  }

  /** Holds what is here of a prompt until `fill` or `giveUp`. */
  expect(request: GenerateRequest): ExpectedPrompt {
    const sequence = this.#sequence(request);
    const { cached } = this.#cache.find(sequence);
    const pinned = this.#cache.pin(sequence, false);
    const blocks = pinned.path.length;
    const missing = Math.floor((request.prompt.length - 1) / this.#limits.blockSize) - blocks;
    return { pinned, blocks, cached, missing };
  }

  /** Whether running sequences, which may need a block each for their next token, leave so many. */
  hasRoom(blocks: number): boolean {
    return this.#cache.available >= blocks + this.#batch.length;
  }

  /** Room for what comes; null: running sequences need it, or no state has a place. Steps in flight may still use it. */
  reserve(blocks: number): FillRoom | null {
    if (!this.hasRoom(blocks)) return null;
    const taken = this.#take(blocks);
    if (taken === null) return null;
    const snapshot = this.#limits.hybrid ? this.#cache.reserveSnapshot() : null;
    if (!this.#limits.hybrid || snapshot !== null) return { blocks: taken, snapshot };
    for (const block of taken) this.#cache.giveBack(block);
    return null;
  }

  /** Blocks that are in no table of the engine, not even in one of a sequence that has left; null: there are fewer. */
  #take(count: number): number[] | null {
    const inTables = this.#batch.blocksOfReleased;
    const [taken, others]: [number[], number[]] = [[], []];
    while (taken.length < count && this.#cache.available > 0) {
      const block = this.#cache.take();
      (inTables.has(block) ? others : taken).push(block);
    }
    for (const block of others) this.#cache.giveBack(block);
    if (taken.length === count) return taken;
    for (const block of taken) this.#cache.giveBack(block);
    return null;
  }

  /** What was expected has come: requests that begin from now on find it. */
  fill({ pinned }: ExpectedPrompt, { blocks, snapshot }: FillRoom): void {
    this.#cache.extend(pinned, blocks, snapshot);
    this.#cache.unpin(pinned);
  }

  /** What was expected does not come. */
  giveUp({ pinned }: ExpectedPrompt, room: FillRoom | null): void {
    for (const block of room?.blocks ?? []) this.#cache.giveBack(block);
    if (room !== null && room.snapshot !== null) this.#cache.dropSnapshot(room.snapshot);
    this.#cache.unpin(pinned);
  }

  #sequence(request: GenerateRequest): Sequence {
    return new Sequence(request, this.#limits.maxModelLen);
  }
}
