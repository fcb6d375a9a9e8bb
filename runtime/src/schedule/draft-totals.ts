// Counts drafts and what became of them, as vLLM's metrics do: per sequence and step, and by position.

/** Totals since the engine's start. */
export interface DraftStats {
  /** Times that a sequence had drafts verified. */
  readonly roundsTotal: number;
  readonly draftTokensTotal: number;
  readonly acceptedTokensTotal: number;
  /** Entry i: accepted drafts that stood i tokens behind the first. */
  readonly acceptedPerPositionTotal: readonly number[];
}

export class DraftTotals {
  #rounds = 0;
  #drafted = 0;
  readonly #accepted: number[];

  constructor(positions: number) {
    this.#accepted = Array.from({ length: positions }, () => 0);
  }

  add(drafted: number, accepted: number): void {
    this.#rounds++;
    this.#drafted += drafted;
    for (let i = 0; i < accepted; i++) this.#accepted[i] = (this.#accepted[i] ?? 0) + 1;
  }

  get stats(): DraftStats {
    return {
      roundsTotal: this.#rounds,
      draftTokensTotal: this.#drafted,
      acceptedTokensTotal: this.#accepted.reduce((sum, count) => sum + count, 0),
      acceptedPerPositionTotal: [...this.#accepted],
    };
  }
}
