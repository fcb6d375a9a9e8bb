// A budget of tokens per calendar day in UTC: what is spent is forgotten at midnight, so that the sum of a day in the
// accounting log is what this counts. The last requests of a day may go over by what they generate.

const dayMs = 86_400_000;

export class DayBudget {
  #perDay: number;
  #day = 0;
  #spent = 0;

  constructor(perDay: number) {
    this.#perDay = perDay;
  }

  resize(perDay: number): void {
    this.#perDay = perDay;
  }

  /** @param now Unix time in milliseconds, as below */
  spend(tokens: number, now: number): void {
    this.#turn(now);
    this.#spent += tokens;
  }

  /** Milliseconds until `tokens` may be begun with; 0: now. More than a day's tokens need a whole day. */
  waitMs(tokens: number, now: number): number {
    this.#turn(now);
    return this.#spent + Math.min(tokens, this.#perDay) <= this.#perDay ? 0 : (this.#day + 1) * dayMs - now;
  }

  #turn(now: number): void {
    const day = Math.floor(now / dayMs);
    // A clock that is put right near midnight makes no new day of the one before.
    if (day === this.#day || day === this.#day - 1) return;
    this.#spent = 0;
    this.#day = day;
  }
}
