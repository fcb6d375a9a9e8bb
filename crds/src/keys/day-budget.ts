// A budget of tokens per calendar day in UTC: what is spent is forgotten at midnight, so that the sum of a day in the
// accounting log is what this counts. The last requests of a day may go over by what they generate.

const dayMs = 86_400_000;
/** Before a midnight that has been. */
const nearMs = 60_000;

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

  /** @param now Unix time in milliseconds by which days are counted, as below */
  spend(tokens: number, now: number): void {
    this.#turn(now);
    this.#spent += tokens;
  }

  /**
   * What was spent on a day before is forgotten already: of today's, that gives nothing back.
   * @param spentAt when it was spent, in the milliseconds of `now`
   */
  giveBack(tokens: number, spentAt: number, now: number): void {
    this.#turn(now);
    if (Math.floor(spentAt / dayMs) < this.#day) return;
    this.#spent = Math.max(0, this.#spent - tokens);
  }

  /** Milliseconds until `tokens` may be begun with; 0: now. More than a day's tokens need a whole day. */
  waitMs(tokens: number, now: number): number {
    this.#turn(now);
    return this.#spent + Math.min(tokens, this.#perDay) <= this.#perDay ? 0 : (this.#day + 1) * dayMs - now;
  }

  #turn(now: number): void {
    const day = Math.floor(now / dayMs);
    // A clock that is put right near midnight makes no new day of the one before.
    if (day === this.#day || (now > this.#day * dayMs - nearMs && day < this.#day)) return;
    // An earlier day begins where a clock was ahead: what was spent stays spent, until the day after it.
    if (day > this.#day) this.#spent = 0;
    this.#day = day;
  }
}
