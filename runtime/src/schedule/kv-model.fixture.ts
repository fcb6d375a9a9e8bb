// What each block of the stand-in engine would hold: for every position a hash of the tokens that its KV is computed
// from. A block that is shared wrongly, or overwritten under its readers, is found at once.

import { rule } from './plan-rule.fixture.js';

// Jest's sandbox makes every look-up of a global slow.
const { floor, imul, min } = Math;

/** What of a sequence decides what its blocks hold. */
export interface KvOwner {
  /** Hash of the tokens up to and with each one. */
  readonly hashes: Int32Array;
  /** Where a hybrid's recurrent form begins. */
  readonly chunkedUntil: number;
  readonly blocks: number[];
  /** Positions that have their KV. */
  readonly computed: number;
}

/** Nobody may come to depend on the KV of a draft that was wrong. */
const kvOfDraft = -1;

export class KvModel {
  readonly #blockSize: number;
  /** Tables that have the block. */
  readonly #holders: Uint32Array;
  /** What the KV of each position was computed from; zero where nothing is. */
  readonly #content: Int32Array;

  constructor({ blockSize, numBlocks }: { readonly blockSize: number; readonly numBlocks: number }) {
    this.#blockSize = blockSize;
    this.#holders = new Uint32Array(numBlocks);
    this.#content = new Int32Array(numBlocks * blockSize);
  }

  /** Blocks in any table. */
  get blocksHeld(): number {
    return this.#holders.filter((count) => count > 0).length;
  }

  append(owner: KvOwner, block: number): void {
    rule(block >= 0 && block < this.#holders.length, 'block within numBlocks');
    owner.blocks.push(block);
    const shared = owner.blocks.length * this.#blockSize <= owner.computed;
    rule(shared || this.#holders[block] === 0, 'a block that is written to has one owner');
    this.#hold(block, 1);
    if (shared) this.#checkBlock(owner, owner.blocks.length - 1);
    else this.#content.fill(0, block * this.#blockSize, (block + 1) * this.#blockSize);
  }

  replace(owner: KvOwner, index: number, block: number): void {
    const old = owner.blocks[index];
    rule(old !== undefined && (index + 1) * this.#blockSize <= owner.computed, 'whole blocks are replaced');
    owner.blocks[index] = block;
    this.#hold(block, 1);
    this.#hold(old, -1);
    this.#checkBlock(owner, index);
  }

  /** The sequence gives up its blocks, which must hold what it computed to the last. */
  release(owner: KvOwner): void {
    for (let index = 0; index * this.#blockSize < owner.computed; index++) this.#checkBlock(owner, index);
    for (const block of owner.blocks) this.#hold(block, -1);
  }

  /** The row of a known token. */
  write(owner: KvOwner, position: number): void {
    this.#content[this.#at(owner, position)] = kvOf(owner, position);
  }

  writeDraft(owner: KvOwner, position: number): void {
    this.#content[this.#at(owner, position)] = kvOfDraft;
  }

  /** What a block holds, for another engine. */
  read(block: number): Int32Array {
    return this.#content.slice(block * this.#blockSize, (block + 1) * this.#blockSize);
  }

  /** Another engine's. */
  fill(block: number, content: Int32Array): void {
    rule(this.#holders[block] === 0, 'a block that is filled is in no table');
    this.#content.set(content, block * this.#blockSize);
  }

  #at({ blocks }: KvOwner, position: number): number {
    const block = blocks[floor(position / this.#blockSize)] ?? NaN;
    return block * this.#blockSize + (position % this.#blockSize);
  }

  #hold(block: number, change: 1 | -1): void {
    this.#holders[block] = (this.#holders[block] ?? NaN) + change;
  }

  /** The block at `index` holds what this sequence's own computation would have put there. */
  #checkBlock(owner: KvOwner, index: number): void {
    const begin = index * this.#blockSize;
    const end = min(begin + this.#blockSize, owner.computed);
    for (let position = begin; position < end; position++) {
      const held = this.#content[this.#at(owner, position)];
      rule(held === kvOf(owner, position), 'a block holds the KV of the tokens of its readers');
    }
  }
}

/** A hybrid's KV differs beyond the border where the recurrent form begins. */
function kvOf({ hashes, chunkedUntil }: KvOwner, position: number): number {
  const hash = hashes[position] ?? NaN;
  return position < chunkedUntil ? hash : hash ^ imul(chunkedUntil + 1, 0x9e3779b1);
}
