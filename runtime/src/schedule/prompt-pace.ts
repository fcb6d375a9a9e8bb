// How many rows of prompts a step may have, so that it takes about as long as it may: whoever decodes waits for its end, and
// whoever comes for the next. By the time that rows of late took. Pure: steps say themselves how long they took.

import { chunkMultiple } from './plan-builder.js';

/** With fewer, weights are read for too few rows; what a slow machine takes for them is waited for. */
const fewestRows = 2 * chunkMultiple;
/** What the time of a row is worth against one more observation of it. */
const memory = 4;

export class PromptPace {
  readonly #stepMicros: number;
  #rowMicros: number | null = null;

  /** @param stepMs milliseconds that a step may take; Infinity: any */
  constructor(stepMs: number) {
    this.#stepMicros = stepMs * 1000;
  }

  /** Notes that a step of `rows` rows took `micros` microseconds. */
  observe(rows: number, micros: number): void {
    // Of fewer, most of the time is that of reading weights.
    if (rows < chunkMultiple) return;
    const observed = micros / rows;
    this.#rowMicros =
      this.#rowMicros === null ? observed : this.#rowMicros + (observed - this.#rowMicros) / memory;
  }

  /** For prompts in the next step; few until it is known what they take. */
  get rows(): number {
    if (this.#stepMicros === Infinity) return Infinity;
    if (this.#rowMicros === null) return fewestRows;
    const chunks = Math.floor(this.#stepMicros / this.#rowMicros / chunkMultiple);
    return Math.max(fewestRows, chunks * chunkMultiple);
  }
}
