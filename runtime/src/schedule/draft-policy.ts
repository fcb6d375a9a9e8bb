// How many drafts to make for each sequence in the next step: as many as pay, by what was measured. A draft is worth
// the chance that it and all before it are accepted; it costs a row of the next step and the making. Pure.

import type { Speculation } from '@llmservice/native';

/** Costs as shares of a step of one sequence without drafts, which mostly reads weights. Orders of magnitude. */
const rowCost = 0.1;
const makingCost = { none: 0, ngram: 0, mtp: 0.08, eagle3: 0.08, draft_model: 0.15 } as const;
/** What a rate is worth against one more observation of it. */
const memory = 64;
/** Drafts pay until the contrary is seen. */
const firstGuess = 0.8;
/** Every so many steps one draft more than pays is made, so that rates that have risen are noticed. */
const probeEvery = 32;

export class DraftPolicy {
  readonly #most: number;
  readonly #makingCost: number;
  /** Of each position: the share of drafts accepted where those before were. */
  readonly #rates: number[];
  #steps = 0;

  constructor({ method, tokens }: Speculation) {
    this.#most = tokens;
    this.#makingCost = makingCost[method];
    this.#rates = Array.from({ length: tokens }, () => firstGuess);
  }

  /** Notes that of a sequence's `drafted` drafts the first `accepted` were right. */
  observe(drafted: number, accepted: number): void {
    for (let i = 0; i < Math.min(drafted, accepted + 1); i++) {
      const rate = this.#rates[i] ?? 0;
      this.#rates[i] = rate + ((i < accepted ? 1 : 0) - rate) / memory;
    }
  }

  /** Drafts to make in a step after which `sequences` decode. */
  next(sequences: number): number {
    const best = this.#best(Math.max(1, sequences));
    const probes = ++this.#steps % probeEvery === 0;
    return probes ? Math.min(this.#most, best + 1) : best;
  }

  /** The step that `next` was asked for last does not run. */
  takeBack(): void {
    this.#steps--;
  }

  /** Most tokens for the time. */
  #best(sequences: number): number {
    // The more rows a step has anyway, the more of it is spent on rows.
    const row = (rowCost * sequences) / (1 + rowCost * sequences);
    let best = 0;
    let bestPace = 1;
    let tokens = 1;
    let chance = 1;
    this.#rates.forEach((rate, i) => {
      chance *= rate;
      tokens += chance;
      const pace = tokens / (1 + (i + 1) * (row + this.#makingCost));
      if (pace <= bestPace) return;
      best = i + 1;
      bestPace = pace;
    });
    return best;
  }
}
