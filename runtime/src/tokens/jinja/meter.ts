// Counts the work of a render in steps, with what each step takes and makes: what could make much out of little is counted
// before it is done.

/** What counts as one step. */
const charsPerStep = 64;
const elementsPerStep = 8;

/** More work than the limit allows. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';

  constructor() {
    super('it takes too much work to be rendered');
  }
}

export class Meter {
  #left: number;

  /** @param maxSteps in a millisecond 15,000 of them are done, of the slowest kind 1,500 */
  constructor(maxSteps: number) {
    this.#left = maxSteps;
  }

  /** @throws TooMuchWork */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork();
  }

  chars(count: number): void {
    this.spend(count / charsPerStep);
  }

  elements(count: number): void {
    this.spend(count / elementsPerStep);
  }
}
