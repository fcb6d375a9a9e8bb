// A model's reasoning, as the engine knows it.

/** The ids around a model's reasoning. */
export interface ReasoningIds {
  /** Null: the prompt begins it. */
  readonly begin: number | null;
  readonly end: number;
}

/** How long the model may reason before it has to answer: it comes before every other rule. */
export interface ReasoningBudget extends ReasoningIds {
  /** Between `begin` and `end`, which comes once they are spent. */
  readonly tokens: number;
  /** Tokens of space alone, ascending, which may stand before `begin`. */
  readonly blanks: Int32Array;
}
