// Counts runs of one token: the sign of a model that has lost itself, and of an honest table of dashes. They cannot be
// distinguished from the tokens, so that a run is counted for those who watch the service, and harms no request; what can
// be distinguished, the native engine ends as a numerical fault.

/** Longer than what separates the rows of most tables. */
const runLength = 256;

interface Run {
  token: number;
  length: number;
}

export class TokenRuns {
  readonly #runs = new Map<string, Run>();
  #total = 0;

  /** Runs that have reached the length. */
  get total(): number {
    return this.#total;
  }

  /** A sequence got a token. */
  add(id: string, token: number): void {
    const run = this.#runs.get(id);
    if (run?.token !== token) this.#runs.set(id, { token, length: 1 });
    else if (++run.length === runLength) this.#total++;
  }

  forget(id: string): void {
    this.#runs.delete(id);
  }
}
