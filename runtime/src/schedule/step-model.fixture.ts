// A pure stand-in for one native step: checks every rule of a plan, then "samples" a hash of each sequence's
// tokens. A sequence's output so depends on its own tokens only, whatever it was batched with.

import { finishCodes, type Admission, type StepPlan, type StepResult } from '@llmservice/native';
import type { SchedulerLimits } from './scheduler.js';

interface Slot {
  readonly admission: Admission;
  readonly tokens: number[];
  readonly blocks: number[];
  computed: number;
  ended: boolean;
}

/** Next token of a sequence: a hash in 0..999. */
export function nextToken(tokens: readonly number[]): number {
  return tokens.reduce((hash, token) => (Math.imul(hash, 31) + token + 7) >>> 0, 17) % 1000;
}

/** What a request must give: its tokens up to the first stop token or its maximum. */
export function expectedTokens(
  prompt: readonly number[],
  maxTokens: number,
  stops: readonly number[],
): number[] {
  const tokens = [...prompt];
  for (let i = 0; i < maxTokens; i++) {
    const token = nextToken(tokens);
    tokens.push(token);
    if (stops.includes(token)) break;
  }
  return tokens.slice(prompt.length);
}

/** Throws with the rule's name as the engine does when a plan breaks one. */
export class StepModel {
  readonly #limits: SchedulerLimits;
  readonly #slots = new Map<number, Slot>();
  readonly #ownerOf = new Map<number, number>();

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
  }

  step(plan: StepPlan): StepResult {
    for (const slot of plan.release) this.#vacate(slot);
    for (const admission of plan.admit) this.#admit(admission);
    for (const [slot, block] of pairs(plan.blocks)) this.#append(slot, block);
    const sampled: { slot: number; token: number; finish: number }[] = [];
    let rows = 0;
    const seen = new Set<number>();
    for (const [slot, count] of pairs(plan.rows)) {
      rule(!seen.has(slot), 'one row entry per slot');
      seen.add(slot);
      rows += count;
      const entry = this.#run(slot, count);
      if (entry !== null) sampled.push(entry);
    }
    rule(rows > 0, 'a step has rows');
    rule(rows <= this.#limits.maxNumBatchedTokens, 'rows within maxNumBatchedTokens');
    return {
      slots: Int32Array.from(sampled, ({ slot }) => slot),
      tokens: Int32Array.from(sampled, ({ token }) => token),
      finish: Uint8Array.from(sampled, ({ finish }) => finish),
      logprobs: Float32Array.from(sampled, () => NaN),
      topOffsets: new Int32Array(sampled.length + 1),
      topTokens: new Int32Array(0),
      topLogprobs: new Float32Array(0),
      prompt: {
        slots: new Int32Array(0),
        positions: new Int32Array(0),
        logprobs: new Float32Array(0),
        topOffsets: new Int32Array(1),
        topTokens: new Int32Array(0),
        topLogprobs: new Float32Array(0),
      },
      computeMicros: 1,
    };
  }

  #vacate(slot: number): void {
    const state = this.#slots.get(slot);
    rule(state !== undefined, 'a released slot is in use');
    for (const block of state.blocks) this.#ownerOf.delete(block);
    this.#slots.delete(slot);
  }

  #admit(admission: Admission): void {
    const { slot } = admission;
    rule(slot >= 0 && slot < this.#limits.maxNumSeqs, 'slot within maxNumSeqs');
    rule(!this.#slots.has(slot), 'an admitted slot is free');
    rule(admission.tokens.length < admission.maxLength, 'an admission has room to generate');
    this.#slots.set(slot, {
      admission,
      tokens: [...admission.tokens],
      blocks: [],
      computed: 0,
      ended: false,
    });
  }

  #append(slot: number, block: number): void {
    rule(block >= 0 && block < this.#limits.numBlocks, 'block within numBlocks');
    rule(!this.#ownerOf.has(block), 'a block has one owner');
    this.#ownerOf.set(block, slot);
    const state = this.#slots.get(slot);
    rule(state !== undefined, 'blocks go to a slot in use');
    state.blocks.push(block);
  }

  #run(slot: number, count: number): { slot: number; token: number; finish: number } | null {
    const state = this.#slots.get(slot);
    rule(state !== undefined && !state.ended, 'rows go to a running slot');
    state.computed += count;
    rule(count >= 1 && state.computed <= state.tokens.length, 'rows are of known tokens');
    rule(state.computed <= state.blocks.length * this.#limits.blockSize, 'rows have blocks');
    if (state.computed < state.tokens.length) {
      rule(state.computed % 64 === 0, 'a chunk ends on a multiple of 64 or at the last token');
      return null;
    }
    const token = nextToken(state.tokens);
    state.tokens.push(token);
    const stop = state.admission.stopTokens.includes(token);
    const full = state.tokens.length >= state.admission.maxLength;
    state.ended = stop || full;
    return { slot, token, finish: stop ? finishCodes.stop : full ? finishCodes.length : finishCodes.none };
  }
}

function pairs(flat: Int32Array): [number, number][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? NaN, flat[2 * i + 1] ?? NaN]);
}

function rule(holds: boolean, name: string): asserts holds {
  if (!holds) throw new Error(`the plan breaks a rule: ${name}`);
}
