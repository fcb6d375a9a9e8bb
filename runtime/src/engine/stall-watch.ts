// Whether a process that sends signs of life has stalled. One that waits for a processor of a busy machine has not: what counts
// is that it gets none at all, or gets enough of it and sends nothing. Time and processor time are passed in.

/** Without processor time, or of it: several times what starting and reading a large vocabulary takes. */
const limitSeconds = 10;

export class StallWatch {
  readonly #processorMs: () => number | null;
  #stillLooks = 0;
  #lastMs = 0;
  /** At the first look since the last sign of life. */
  #silentFromMs: number | null = null;

  /** @param processorMs that the process has taken; null: it cannot be known */
  constructor(processorMs: () => number | null) {
    this.#processorMs = processorMs;
  }

  /** A sign of life. */
  heard(): void {
    this.#stillLooks = 0;
    this.#silentFromMs = null;
  }

  /** To be called every second. @returns whether it has stalled */
  look(): boolean {
    const ms = this.#processorMs() ?? this.#lastMs;
    this.#stillLooks = ms > this.#lastMs ? 0 : this.#stillLooks + 1;
    this.#lastMs = ms;
    this.#silentFromMs ??= ms;
    return this.#stillLooks > limitSeconds || ms - this.#silentFromMs > limitSeconds * 1000;
  }
}
