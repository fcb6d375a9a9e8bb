// Steps that the engine has been asked for and has not ended, and who waits for those that there are: until then they may
// use blocks that nobody holds any more.

export class StepsInFlight {
  #count = 0;
  /** Who waits for as many more to end. */
  #waiting: { left: number; readonly resolve: () => void }[] = [];

  began(): void {
    this.#count++;
  }

  ended(): void {
    this.#count--;
    for (const each of this.#waiting) each.left--;
    const done = this.#waiting.filter(({ left }) => left === 0);
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    for (const { resolve } of done) resolve();
  }

  /** The last one does not run: who waited for it waits for those before it. */
  withdrawn(): void {
    this.#count--;
    for (const each of this.#waiting) each.left = Math.min(each.left, this.#count);
  }

  /** Resolves once all that there are now have ended. */
  async settled(): Promise<void> {
    const left = this.#count;
    if (left > 0) await new Promise<void>((resolve) => this.#waiting.push({ left, resolve }));
  }
}
