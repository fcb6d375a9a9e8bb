// The KV blocks of one engine, and which of them later requests may reuse. Blocks are used (some running sequence
// holds them), cached (whole, committed, held by none) or free. Cached blocks form a tree: the key of one is the block
// before it and its own tokens in full, so that there are no collisions, as hashes would have, and two prompts meet
// exactly as far as they are equal. A sequence holds all blocks from the root to where it is; so children are let go
// no later than their parents, and taking the oldest cached block always takes a leaf.

import { BlockAllocator } from './block-allocator.js';
import { CachedBlock } from './cached-block.js';
import { LruList } from './lru-list.js';
import { ReuseRules } from './reuse-rules.js';
import type { Running, Sequence } from './sequence.js';
import { SnapshotPool, type Snapshot } from './snapshot-pool.js';

export interface PrefixCacheLimits {
  readonly prefixCaching: boolean;
  readonly blockSize: number;
  readonly numBlocks: number;
  /** The model keeps recurrent state. */
  readonly hybrid: boolean;
  readonly numStateSnapshots: number;
  /** What a block holds depends on what comes behind it, so that none is of use to others; absent: it does not. */
  readonly bidirectional?: boolean;
}

/** What the cache has of a sequence. */
export interface Match {
  /** Blocks to start with, from the first. */
  readonly path: readonly CachedBlock[];
  /** Tokens in them. */
  readonly cached: number;
  /** Tokens whose blocks are there; more than `cached` where the state is missing. */
  readonly matched: number;
  /** Tokens that were looked up; 0: what the cache has is of no use to the sequence. */
  readonly queried: number;
}

/** What is held of a prompt for somebody else than a sequence. */
export interface PinnedPrompt {
  readonly sequence: Sequence;
  readonly path: CachedBlock[];
  /** Of the state behind the last block. */
  readonly snapshot: Snapshot<CachedBlock> | null;
  /** Of the cache when it was pinned: what came before a flush becomes no entry after it. */
  readonly flushes: number;
}

export class PrefixCache {
  readonly #rules: ReuseRules;
  readonly #enabled: boolean;
  readonly #blocks: BlockAllocator;
  readonly #byKey = new Map<string, CachedBlock>();
  /** Held by no sequence. */
  readonly #cached = new LruList<CachedBlock>();
  readonly #snapshots: SnapshotPool<CachedBlock>;
  #made = 0;
  #flushes = 0;

  constructor(limits: PrefixCacheLimits) {
    const { prefixCaching, blockSize, numBlocks, hybrid, numStateSnapshots, bidirectional } = limits;
    this.#rules = new ReuseRules(blockSize, hybrid);
    // Without a place for their state a hybrid's blocks are of no use to anybody.
    this.#enabled = prefixCaching && bidirectional !== true && (!hybrid || numStateSnapshots > 0);
    this.#blocks = new BlockAllocator(numBlocks);
    this.#snapshots = new SnapshotPool(this.#enabled && hybrid ? numStateSnapshots : 0);
  }

  /** Blocks that can be taken now: free ones and cached ones. */
  get available(): number {
    return this.#blocks.available + this.#cached.size;
  }

  get cachedBlocks(): number {
    return this.#cached.size;
  }

  get usedBlocks(): number {
    return this.#blocks.count - this.available;
  }

  get snapshotsKept(): number {
    return this.#snapshots.kept;
  }

  /** Takes a free block, or the cached one used longest ago. @throws when none is `available` */
  take(): number {
    const oldest = this.#blocks.available === 0 ? this.#cached.oldest : null;
    if (oldest !== null) this.#forget(oldest);
    return this.#blocks.take();
  }

  /** Takes back a block that nobody has written to. */
  giveBack(block: number): void {
    this.#blocks.give([block]);
  }

  /** How much of a sequence is there; nothing is held yet. */
  find(sequence: Sequence): Match {
    // A mean needs the hidden states of all tokens, cls that of the first, and scores logits: cached blocks have none.
    const { pooling } = sequence.request;
    const useless = !this.#enabled || pooling === 'mean' || pooling === 'cls' || sequence.wantsScores;
    if (useless) return { path: [], cached: 0, matched: 0, queried: 0 };
    const { blockSize } = this.#rules;
    const path = this.#walk(sequence);
    const matched = path.length * blockSize;
    while (path.length > 0 && !this.#startsBehind(path)) path.pop();
    return { path, cached: path.length * blockSize, matched, queried: sequence.length };
  }

  /** Blocks that holding this path would leave `available`. */
  availableBeside(path: readonly CachedBlock[]): number {
    return this.available - path.filter(({ holders }) => holders === 0).length;
  }

  /** Holds the blocks that a sequence starts with; returns the snapshot to start from, null: none is needed. */
  hold({ path }: Match): number | null {
    for (const block of path) this.#hold(block);
    const snapshot = path.at(-1)?.snapshot ?? null;
    if (snapshot !== null) this.#snapshots.use(snapshot);
    return snapshot?.index ?? null;
  }

  /** Positions at which the state of a sequence that starts so should be saved, ascending. */
  savePlaces(sequence: Sequence, { cached, matched }: Match): number[] {
    return this.#snapshots.count === 0 ? [] : this.#rules.savePlaces(sequence, cached, matched);
  }

  /**
   * Makes the whole blocks among a running sequence's first `computed` tokens reusable. Where another sequence was
   * first, that one's block takes the place of the own, which holds the same bits.
   * @param replaced called for every such place of the block table
   */
  commit(
    running: Running,
    computed: number,
    replaced: (running: Running, index: number, block: number) => void,
  ): void {
    if (!this.#enabled) return;
    const { sequence, blocks, path } = running;
    const whole = this.#rules.cacheableBlocks(sequence, computed);
    while (path.length < whole) {
      const index = path.length;
      const own = blocks[index];
      if (own === undefined) throw new Error(`block ${index} of a sequence was computed but never taken`);
      const entry = this.#enter(sequence, path, own);
      path.push(entry);
      if (entry.block === own) continue;
      blocks[index] = entry.block;
      replaced(running, index, entry.block);
    }
  }

  /** Lets go of all blocks of a sequence that leaves. `spoilt`: what it computed must not be reused. */
  release({ path, blocks }: Running, spoilt = false): void {
    this.#blocks.give(blocks.slice(path.length));
    this.#letGo(path, spoilt);
  }

  /**
   * Holds what the cache has of a prompt for somebody else than a sequence, until it is unpinned: with the state behind
   * it, or all blocks that are there.
   * @param reusable whether only those that a sequence could start behind
   */
  pin(sequence: Sequence, reusable: boolean): PinnedPrompt {
    const path = reusable ? this.find(sequence).path : this.#enabled ? this.#walk(sequence) : [];
    for (const block of path) this.#hold(block);
    const snapshot = reusable ? (path.at(-1)?.snapshot ?? null) : null;
    if (snapshot !== null) this.#snapshots.pin(snapshot);
    return { sequence, path: [...path], snapshot, flushes: this.#flushes };
  }

  unpin({ path, snapshot }: PinnedPrompt): void {
    if (snapshot !== null) this.#snapshots.unpin(snapshot);
    this.#letGo(path, false);
  }

  /**
   * Makes blocks, filled by somebody else, entries behind those that are pinned, and holds them too.
   * @param snapshot reserved; has the state behind the last one. Null: none is needed
   */
  extend(pinned: PinnedPrompt, blocks: readonly number[], snapshot: Snapshot<CachedBlock> | null): void {
    const { sequence, path, flushes } = pinned;
    if (flushes !== this.#flushes) {
      this.#blocks.give(blocks);
      if (snapshot !== null) this.#snapshots.drop(snapshot);
      return;
    }
    for (const block of blocks) path.push(this.#enter(sequence, path, block));
    const last = path.at(-1);
    if (snapshot === null) return;
    if (last?.snapshot === null) this.#snapshots.keep(snapshot, last);
    else this.#snapshots.drop(snapshot);
  }

  #letGo(path: readonly CachedBlock[], spoilt: boolean): void {
    for (const block of path.toReversed()) {
      if (--block.holders > 0) continue;
      this.#cached.push(block);
      if (spoilt || this.#byKey.get(block.key) !== block) this.#forget(block);
    }
  }

  /** From now on nothing that was computed before is reused. Blocks that running sequences hold are free after them. */
  flush(): void {
    for (let block = this.#cached.oldest; block !== null; block = this.#cached.oldest) this.#forget(block);
    this.#byKey.clear();
    this.#flushes++;
  }

  /** A place for a state that the next step writes; null when there is none. */
  reserveSnapshot(): Snapshot<CachedBlock> | null {
    return this.#snapshots.reserve();
  }

  /** Keeps the state that was written after the first `position` tokens of a sequence. */
  keepSnapshot(snapshot: Snapshot<CachedBlock>, { path }: Running, position: number): void {
    const block = path[position / this.#rules.blockSize - 1];
    if (block === undefined)
      throw new Error(`the state at ${position} was saved before its block was committed`);
    // A twin that ran alongside this sequence may have been first.
    if (block.snapshot === null) this.#snapshots.keep(snapshot, block);
    else this.#snapshots.drop(snapshot);
  }

  dropSnapshot(snapshot: Snapshot<CachedBlock>): void {
    this.#snapshots.drop(snapshot);
  }

  /** Blocks of a sequence that are there, as far as it may start behind them. */
  #walk(sequence: Sequence): CachedBlock[] {
    const most = this.#rules.longestReuse(sequence) / this.#rules.blockSize;
    const path: CachedBlock[] = [];
    while (path.length < most) {
      const next = this.#byKey.get(this.#key(sequence, path));
      if (next === undefined) break;
      path.push(next);
    }
    return path;
  }

  /** Whether all is there that a sequence needs to start behind these blocks. */
  #startsBehind(path: readonly CachedBlock[]): boolean {
    const { blockSize, hybrid, unit } = this.#rules;
    return !hybrid || ((path.length * blockSize) % unit === 0 && path.at(-1)?.snapshot != null);
  }

  /** The entry of the block that follows `path`, held: a new one, or the one that is there, and then `own` is free. */
  #enter(sequence: Sequence, path: readonly CachedBlock[], own: number): CachedBlock {
    const key = this.#key(sequence, path);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      this.#hold(known);
      this.#blocks.give([own]);
      return known;
    }
    const entry = new CachedBlock(this.#made++, key, own);
    entry.holders = 1;
    this.#byKey.set(key, entry);
    return entry;
  }

  #hold(block: CachedBlock): void {
    if (block.holders++ === 0) this.#cached.remove(block);
  }

  /** Frees a cached block. */
  #forget(block: CachedBlock): void {
    this.#cached.remove(block);
    if (this.#byKey.get(block.key) === block) this.#byKey.delete(block.key);
    if (block.snapshot !== null) this.#snapshots.drop(block.snapshot);
    this.#blocks.give([block.block]);
  }

  /** Key of the block that follows `path`. Block texts have one length, so that what stands before is unambiguous. */
  #key(sequence: Sequence, path: readonly CachedBlock[]): string {
    const parent = path.at(-1);
    const before = parent === undefined ? rootOf(sequence.request) : String(parent.id);
    return before + sequence.blockText(path.length, this.#rules.blockSize);
  }
}

/** Prompts of different salts, or of different adapters, share nothing: their keys and values differ. */
function rootOf({ cacheSalt, adapter }: Sequence['request']): string {
  return `adapter ${JSON.stringify(adapter?.key ?? null)} salt ${cacheSalt ?? ''}`;
}
