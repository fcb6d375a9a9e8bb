// A budget of tokens per minute, as a bucket that holds a minute's tokens and is filled evenly. What a request generates
// is not known before, so the bucket may owe: nothing begins until the debt is paid. So over any time t at most
// (1 + t / 1 min) budgets are begun with, and what the last requests went over is paid by the next ones.
// Why ours: npm's limiter takes the cost before the work, allows no debt and reads a clock of its own.

const minuteMs = 60_000;
/** What sums of fractions of tokens may be off by. */
const roundingTokens = 1e-6;

export class TokenBucket {
  #perMinute: number;
  #spent = 0;
  #at: number;

  /** @param now of a clock that never steps, in milliseconds, as everywhere below */
  constructor(perMinute: number, now: number) {
    this.#perMinute = perMinute;
    this.#at = now;
  }

  /** What was spent stays spent. */
  resize(perMinute: number, now: number): void {
    this.#refill(now);
    this.#perMinute = perMinute;
  }

  spend(tokens: number, now: number): void {
    this.#refill(now);
    this.#spent += tokens;
  }

  /** A bucket that has been filled since stays full. */
  giveBack(tokens: number, now: number): void {
    this.#refill(now);
    this.#spent = Math.max(0, this.#spent - tokens);
  }

  /** Milliseconds until `tokens` may be begun with; 0: now. More than a minute's tokens need a full bucket. */
  waitMs(tokens: number, now: number): number {
    this.#refill(now);
    const missing = Math.min(tokens, this.#perMinute) - (this.#perMinute - this.#spent);
    return missing < roundingTokens ? 0 : (missing * minuteMs) / this.#perMinute;
  }

  /** Tokens that are there; 0 while it owes. */
  left(now: number): number {
    this.#refill(now);
    return Math.max(0, this.#perMinute - this.#spent);
  }

  #refill(now: number): void {
    const passedMs = now - this.#at;
    this.#spent = Math.max(0, this.#spent - (passedMs * this.#perMinute) / minuteMs);
    this.#at = now;
  }
}
