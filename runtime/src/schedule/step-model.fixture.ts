// A pure stand-in for native steps: checks every rule of a plan, keeps what each block and snapshot would hold, and
// "samples" a hash of each sequence's tokens. A sequence's output so depends on its own tokens only, whatever it was
// batched with; and a block or state that is shared wrongly, or overwritten under its readers, is found at once.

import { finishCodes, type Admission, type StepPlan, type StepResult } from '@llmservice/native';
import { KvModel, type KvOwner } from './kv-model.fixture.js';
import { rule } from './plan-rule.fixture.js';
import type { SchedulerLimits } from './scheduler.js';
import { resultOf, type SampledToken, type ScoredToken } from './step-result.fixture.js';
import { emptyHash, hashWith, tokenOf } from './token-hashes.fixture.js';

interface Slot extends KvOwner {
  readonly admission: Admission;
  /** Tokens that are known. */
  known: number;
  computed: number;
  ended: boolean;
  /** Drafts that it holds, and how many of them are right. */
  drafts: { readonly count: number; readonly right: number };
}

/** Of blocks and a snapshot. */
interface Places {
  readonly blocks: readonly number[];
  readonly snapshot: number | null;
}

// Jest's sandbox makes every look-up of a global slow.
const { floor, max, min } = Math;

/** Throws with the rule's name as the engine does when a plan breaks one. */
export class StepModel {
  readonly #limits: SchedulerLimits;
  readonly #slots = new Map<number, Slot>();
  readonly #kv: KvModel;
  readonly #snapshots: (number | null)[];
  /** Row entries, planned ahead, of sequences that had ended. */
  leftOut = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
    this.#kv = new KvModel(limits);
    this.#snapshots = Array.from({ length: limits.numStateSnapshots }, () => null);
  }

  /** Blocks in any table. */
  get blocksHeld(): number {
    return this.#kv.blocksHeld;
  }

  /** Fills blocks, and a snapshot, from another engine's. */
  fetch(from: StepModel, offered: Places, into: Places): void {
    rule(offered.blocks.length === into.blocks.length, 'as many blocks are filled as are offered');
    into.blocks.forEach((block, i) => this.#kv.fill(block, from.#kv.read(offered.blocks[i] ?? NaN)));
    if (into.snapshot === null || offered.snapshot === null) return;
    this.#snapshots[into.snapshot] = from.#snapshots[offered.snapshot] ?? null;
  }

  step(plan: StepPlan): StepResult {
    for (const slot of plan.release) this.#vacate(slot);
    for (const admission of plan.admit) this.#admit(admission);
    for (const [slot, index, block] of tuples<[number, number, number]>(plan.replace, 3)) {
      this.#kv.replace(this.#slot(slot), index, block);
    }
    for (const [slot, block] of tuples<[number, number]>(plan.blocks, 2)) {
      this.#kv.append(this.#slot(slot), block);
    }
    const sampled: SampledToken[] = [];
    const scored: ScoredToken[] = [];
    const rowsOf = new Map<number, number>();
    for (const [slot, count] of tuples<[number, number]>(plan.rows, 2)) {
      rule(!rowsOf.has(slot), 'one row entry per slot');
      if (plan.ahead && this.#slot(slot).ended) {
        this.leftOut++;
        continue;
      }
      const left = plan.ahead ? this.#asHeld(slot, count) : count;
      rowsOf.set(slot, left);
      scored.push(...this.#score(slot, left));
      sampled.push(...this.#run(slot, left));
    }
    const { tokens } = this.#limits.speculative;
    rule(plan.drafts >= 0 && plan.drafts <= tokens, 'drafts within speculative.tokens');
    const held = [...rowsOf.keys()].flatMap((slot) => this.#draft(slot, plan.drafts));
    const rows = [...rowsOf.values()].reduce((sum, count) => sum + count, 0);
    rule(plan.rows.length > 0, 'a step has rows');
    rule(rows <= this.#limits.maxNumBatchedTokens, 'rows within maxNumBatchedTokens');
    this.#save(plan, rowsOf);
    return resultOf(sampled, held, scored, rows);
  }

  /** The sequence meets a fault. */
  end(slot: number): void {
    this.#slot(slot).ended = true;
  }

  #vacate(slot: number): void {
    this.#kv.release(this.#slot(slot));
    this.#slots.delete(slot);
  }

  #admit(admission: Admission): void {
    const { slot, tokens, cachedTokens, snapshot, promptLength } = admission;
    const { blockSize, hybrid, maxNumSeqs } = this.#limits;
    rule(slot >= 0 && slot < maxNumSeqs, 'slot within maxNumSeqs');
    rule(!this.#slots.has(slot), 'an admitted slot is free');
    const { pooling } = admission;
    rule(tokens.length <= admission.maxLength, 'an admission has room for its tokens');
    const pools = pooling === 'mean' || pooling === 'cls';
    rule(!pools || cachedTokens === 0, 'what is pooled is of tokens that are computed');
    rule(!admission.promptLogprobs || cachedTokens === 0, 'scores are of positions that are computed');
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

  /** The prompt's tokens behind the rows that this step computes. */
  #score(slot: number, count: number): ScoredToken[] {
    const { admission, computed } = this.#slot(slot);
    if (!admission.promptLogprobs) return [];
    const all = Array.from({ length: count }, (_, row) => ({ slot, position: computed + row + 1 }));
    return all.filter(({ position }) => position < admission.promptLength);
  }

  /** Of rows that were planned ahead, those of known tokens and of drafts that the slot holds and has blocks for. */
  #asHeld(slot: number, count: number): number {
    const { known, computed, drafts, blocks } = this.#slot(slot);
    const verified = min(drafts.count, blocks.length * this.#limits.blockSize - known);
    return min(count, known - computed + max(0, verified));
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
      if (position < state.known) this.#kv.write(state, position);
      else this.#kv.writeDraft(state, position);
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
      this.#kv.write(state, state.computed++);
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
      if (plan.ahead && state.ended) continue;
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
}

const noDrafts = { count: 0, right: 0 } as const;

function tuples<Tuple extends number[]>(flat: Int32Array, size: number): Tuple[] {
  const list: Tuple[] = [];
  for (let i = 0; i < flat.length; i += size) list.push(Array.from(flat.subarray(i, i + size)) as Tuple);
  return list;
}
