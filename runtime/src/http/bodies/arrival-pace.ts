// How fast a body comes, judged by the last whole window of time: so that a burst at its beginning earns no rest afterwards.

/** A body is slow of which less than this came in a whole window. */
export interface LeastPace {
  readonly windowMs: number;
  readonly bytesPerSecond: number;
}

export class ArrivalPace {
  readonly #least: LeastPace;
  readonly #begunAt: number;
  /** The window under way, counted from the body's beginning, and what came in it and in the one before. */
  #window = 0;
  #bytes = 0;
  #bytesBefore = 0;

  constructor(least: LeastPace, now: number) {
    this.#least = least;
    this.#begunAt = now;
  }

  came(bytes: number, now: number): void {
    this.#turn(now);
    this.#bytes += bytes;
  }

  isSlow(now: number): boolean {
    this.#turn(now);
    const { windowMs, bytesPerSecond } = this.#least;
    return this.#window > 0 && this.#bytesBefore * 1000 < bytesPerSecond * windowMs;
  }

  #turn(now: number): void {
    const window = Math.floor((now - this.#begunAt) / this.#least.windowMs);
    if (window === this.#window) return;
    this.#bytesBefore = window === this.#window + 1 ? this.#bytes : 0;
    this.#window = window;
    this.#bytes = 0;
  }
}
