// A pure stand-in for native steps: checks every rule of a plan, keeps what each block and snapshot would hold, and
// "samples" a hash of each sequence's tokens. A sequence's output so depends on its own tokens only, whatever it was
// batched with; and a block or state that is shared wrongly, or overwritten under its readers, is found at once.

import { finishCodes, type Admission, type StepPlan, type StepResult } from '@llmservice/native';
import type { SchedulerLimits } from './scheduler.js';

interface Slot {
  readonly admission: Admission;
  /** Tokens that are known. */
  known: number;
  /** (maxLength) hash of the tokens up to and with each one. */
  readonly hashes: Int32Array;
  readonly chunkedUntil: number;
  readonly blocks: number[];
  computed: number;
  ended: boolean;
  /** Drafts that it holds, and how many of them are right. */
  drafts: { readonly count: number; readonly right: number };
}

interface SampledToken {
  readonly slot: number;
  readonly token: number;
  readonly finish: number;
  /** In place of the token, where one was asked for: the hash of all tokens. */
  readonly embedding: number | null;
}

// Jest's sandbox makes every look-up of a global slow.
const { floor, imul, min } = Math;

const emptyHash = 17;
const hashWith = (hash: number, token: number): number => (imul(hash, 31) + token + 7) | 0;
const tokenOf = (hash: number): number => (hash >>> 0) % 1000;

/** What a request must give: its tokens up to the first stop token or its maximum. */
export function expectedTokens(
  prompt: ArrayLike<number>,
  maxTokens: number,
  stops: Int32Array | readonly number[],
): number[] {
  let hash = emptyHash;
  for (let i = 0; i < prompt.length; i++) hash = hashWith(hash, prompt[i] ?? NaN);
  const tokens: number[] = [];
  for (let i = 0; i < maxTokens; i++) {
    const token = tokenOf(hash);
    tokens.push(token);
    if (stops.includes(token)) break;
    hash = hashWith(hash, token);
  }
  return tokens;
}

/** Throws with the rule's name as the engine does when a plan breaks one. */
export class StepModel {
  readonly #limits: SchedulerLimits;
  readonly #slots = new Map<number, Slot>();
  /** Tables that have the block. */
  readonly #holders: Uint32Array;
  /** What the KV of each position was computed from; zero where nothing is. */
  readonly #content: Int32Array;
  readonly #snapshots: (number | null)[];

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
    this.#holders = new Uint32Array(limits.numBlocks);
    this.#content = new Int32Array(limits.numBlocks * limits.blockSize);
    this.#snapshots = Array.from({ length: limits.numStateSnapshots }, () => null);
  }

  /** Blocks in any table. */
  get blocksHeld(): number {
    return this.#holders.filter((count) => count > 0).length;
  }

  step(plan: StepPlan): StepResult {
    for (const slot of plan.release) this.#vacate(slot);
    for (const admission of plan.admit) this.#admit(admission);
    for (const [slot, index, block] of tuples<[number, number, number]>(plan.replace, 3)) {
      this.#replace(slot, index, block);
    }
    for (const [slot, block] of tuples<[number, number]>(plan.blocks, 2)) this.#append(slot, block);
    const sampled: SampledToken[] = [];
    const rowsOf = new Map<number, number>();
    for (const [slot, count] of tuples<[number, number]>(plan.rows, 2)) {
      rule(!rowsOf.has(slot), 'one row entry per slot');
      rowsOf.set(slot, count);
      sampled.push(...this.#run(slot, count));
    }
    const { tokens } = this.#limits.speculative;
    rule(plan.drafts >= 0 && plan.drafts <= tokens, 'drafts within speculative.tokens');
    const held = [...rowsOf.keys()].flatMap((slot) => this.#draft(slot, plan.drafts));
    const rows = [...rowsOf.values()].reduce((sum, count) => sum + count, 0);
    rule(rows > 0, 'a step has rows');
    rule(rows <= this.#limits.maxNumBatchedTokens, 'rows within maxNumBatchedTokens');
    this.#save(plan, rowsOf);
    return resultOf(sampled, held);
  }

  #vacate(slot: number): void {
    const state = this.#slot(slot);
    this.#checkContent(state, state.computed);
    for (const block of state.blocks) this.#hold(block, -1);
    this.#slots.delete(slot);
  }

  #admit(admission: Admission): void {
    const { slot, tokens, cachedTokens, snapshot, promptLength } = admission;
    const { blockSize, hybrid, maxNumSeqs } = this.#limits;
    rule(slot >= 0 && slot < maxNumSeqs, 'slot within maxNumSeqs');
    rule(!this.#slots.has(slot), 'an admitted slot is free');
    const { pooling } = admission;
    const most = pooling === 'none' ? admission.maxLength - 1 : admission.maxLength;
    rule(tokens.length <= most, 'an admission has room to generate');
    rule(pooling !== 'mean' || cachedTokens === 0, 'a mean is over tokens that are computed');
    rule(cachedTokens >= 0 && cachedTokens < tokens.length, 'a token is left to compute');
    rule(cachedTokens % blockSize === 0, 'cached tokens are whole blocks');
    const hashes = new Int32Array(admission.maxLength);
    let hash = emptyHash;
    for (let i = 0; i < tokens.length; i++) {
      hash = hashWith(hash, tokens[i] ?? NaN);
      hashes[i] = hash;
    }
    const chunkedUntil = hybrid ? floor(promptLength / 64) * 64 : Infinity;
    rule((snapshot !== null) === (hybrid && cachedTokens > 0), 'a snapshot where a state is needed');
    if (snapshot !== null) {
      rule(cachedTokens % 64 === 0 && cachedTokens <= chunkedUntil, 'a hybrid starts on a multiple of 64');
      rule(
        this.#snapshots[snapshot] === hashes[cachedTokens - 1],
        'a snapshot holds the state of its tokens',
      );
    }
    const state = { admission, known: tokens.length, hashes, chunkedUntil, blocks: [] };
    this.#slots.set(slot, { ...state, computed: cachedTokens, ended: false, drafts: noDrafts });
  }

  #replace(slot: number, index: number, block: number): void {
    const state = this.#slot(slot);
    const old = state.blocks[index];
    rule(
      old !== undefined && (index + 1) * this.#limits.blockSize <= state.computed,
      'whole blocks are replaced',
    );
    state.blocks[index] = block;
    this.#hold(block, 1);
    this.#hold(old, -1);
    this.#checkBlock(state, index);
  }

  #append(slot: number, block: number): void {
    const { blockSize, numBlocks } = this.#limits;
    rule(block >= 0 && block < numBlocks, 'block within numBlocks');
    const state = this.#slot(slot);
    state.blocks.push(block);
    const shared = state.blocks.length * blockSize <= state.computed;
    rule(shared || this.#holders[block] === 0, 'a block that is written to has one owner');
    this.#hold(block, 1);
    if (shared) this.#checkBlock(state, state.blocks.length - 1);
    else this.#content.fill(0, block * blockSize, (block + 1) * blockSize);
  }

  #run(slot: number, count: number): SampledToken[] {
    const state = this.#slot(slot);
    const { blockSize } = this.#limits;
    rule(!state.ended, 'rows go to a running slot');
    const end = state.computed + count;
    const drafts = Math.max(0, end - state.known);
    rule(count >= 1 && drafts <= state.drafts.count, 'rows are of known tokens and of drafts');
    rule(drafts === 0 || end < state.admission.maxLength, 'drafts leave room for the token after them');
    rule(end <= state.blocks.length * blockSize, 'rows have blocks');
    for (let position = state.computed; position < end; position++) {
      const block = state.blocks[floor(position / blockSize)] ?? NaN;
      const kv = position < state.known ? kvOf(state, position) : kvOfDraft;
      this.#content[block * blockSize + (position % blockSize)] = kv;
    }
    state.computed = end - drafts;
    const { right } = state.drafts;
    state.drafts = noDrafts;
    if (state.computed < state.known) {
      rule(end % 64 === 0, 'a chunk ends on a multiple of 64 or at the last token');
      return [];
    }
    const sampled = [this.#sample(state, slot)];
    const goesOn = (): boolean => sampled.at(-1)?.finish === finishCodes.none;
    for (let left = min(drafts, right); left > 0 && goesOn(); left--) {
      const position = state.computed++;
      const block = state.blocks[floor(position / blockSize)] ?? NaN;
      this.#content[block * blockSize + (position % blockSize)] = kvOf(state, position);
      sampled.push(this.#sample(state, slot));
    }
    return sampled;
  }

  #sample(state: Slot, slot: number): SampledToken {
    const hash = state.hashes[state.known - 1] ?? NaN;
    if (state.admission.pooling !== 'none') {
      state.ended = true;
      return { slot, token: NaN, finish: finishCodes.none, embedding: hash };
    }
    const token = tokenOf(hash);
    state.hashes[state.known++] = hashWith(hash, token);
    const stop = state.admission.stopTokens.includes(token);
    const full = state.known >= state.admission.maxLength;
    state.ended = stop || full;
    const finish = stop ? finishCodes.stop : full ? finishCodes.length : finishCodes.none;
    return { slot, token, finish, embedding: null };
  }

  /** Sometimes none, and of the others a few or all are right: the last token's hash decides. */
  #draft(slot: number, most: number): number[] {
    const state = this.#slot(slot);
    const hash = (state.hashes[state.known - 1] ?? NaN) >>> 0;
    const room =
      state.ended || state.computed < state.known - 1 ? 0 : state.admission.maxLength - 1 - state.known;
    const count = Math.max(0, min(most, hash % 7, room));
    state.drafts = { count, right: (hash >>> 8) % (count + 1) };
    return count === 0 ? [] : [slot, count, ...Array.from({ length: count }, () => 0)];
  }

  #save(plan: StepPlan, rowsOf: ReadonlyMap<number, number>): void {
    const written = new Set<number>();
    for (const [slot, position, snapshot] of tuples<[number, number, number]>(plan.saves, 3)) {
      const state = this.#slot(slot);
      rule(snapshot >= 0 && snapshot < this.#snapshots.length, 'snapshot within numStateSnapshots');
      rule(!written.has(snapshot), 'a snapshot is written once per step');
      written.add(snapshot);
      const begin = state.computed - (rowsOf.get(slot) ?? 0);
      rule(position > begin && position <= state.computed, 'a saved state is computed in the step');
      rule(position % 64 === 0 && position <= state.chunkedUntil, 'a saved state can be reused');
      this.#snapshots[snapshot] = state.hashes[position - 1] ?? NaN;
    }
  }

  #slot(slot: number): Slot {
    const state = this.#slots.get(slot);
    rule(state !== undefined, 'the slot is in use');
    return state;
  }

  #hold(block: number, change: 1 | -1): void {
    this.#holders[block] = (this.#holders[block] ?? NaN) + change;
  }

  #checkContent(state: Slot, computed: number): void {
    for (let index = 0; index * this.#limits.blockSize < computed; index++) this.#checkBlock(state, index);
  }

  /** The block at `index` holds what this sequence's own computation would have put there. */
  #checkBlock(state: Slot, index: number): void {
    const { blockSize } = this.#limits;
    const block = state.blocks[index] ?? NaN;
    const end = min((index + 1) * blockSize, state.computed);
    for (let position = index * blockSize; position < end; position++) {
      const held = this.#content[block * blockSize + (position % blockSize)];
      rule(held === kvOf(state, position), 'a block holds the KV of the tokens of its readers');
    }
  }
}

const noDrafts = { count: 0, right: 0 } as const;
/** Nobody may come to depend on the KV of a draft that was wrong. */
const kvOfDraft = -1;

/** A hybrid's KV differs beyond the border where the recurrent form begins. */
function kvOf({ hashes, chunkedUntil }: Slot, position: number): number {
  const hash = hashes[position] ?? NaN;
  return position < chunkedUntil ? hash : hash ^ imul(chunkedUntil + 1, 0x9e3779b1);
}

function resultOf(all: readonly SampledToken[], drafts: readonly number[]): StepResult {
  const sampled = all.filter(({ embedding }) => embedding === null);
  const embedded = all.filter(({ embedding }) => embedding !== null);
  return {
    slots: Int32Array.from(sampled.map(({ slot }) => slot)),
    tokens: Int32Array.from(sampled.map(({ token }) => token)),
    finish: Uint8Array.from(sampled.map(({ finish }) => finish)),
    logprobs: new Float32Array(sampled.length).fill(NaN),
    topOffsets: new Int32Array(sampled.length + 1),
    topTokens: new Int32Array(0),
    topLogprobs: new Float32Array(0),
    drafts: Int32Array.from(drafts),
    logitHashes: new BigUint64Array(0),
    prompt: {
      slots: new Int32Array(0),
      positions: new Int32Array(0),
      logprobs: new Float32Array(0),
      topOffsets: new Int32Array(1),
      topTokens: new Int32Array(0),
      topLogprobs: new Float32Array(0),
    },
    embeddings: {
      slots: Int32Array.from(embedded, ({ slot }) => slot),
      // As wide as an embedding of one number can be: a hash has 32 bits, a float 24.
      values: Float32Array.from(embedded, ({ embedding }) => (embedding ?? NaN) & 0xffffff),
    },
    faults: [],
    computeMicros: 1,
  };
}

function tuples<Tuple extends number[]>(flat: Int32Array, size: number): Tuple[] {
  const list: Tuple[] = [];
  for (let i = 0; i < flat.length; i += size) list.push(Array.from(flat.subarray(i, i + size)) as Tuple);
  return list;
}

function rule(holds: boolean, name: string): asserts holds {
  if (!holds) throw new Error(`the plan breaks a rule: ${name}`);
}
