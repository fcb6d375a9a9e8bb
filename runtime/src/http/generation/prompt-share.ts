// What the answers to one prompt share: the scores of its tokens, and the moment from which the prefix cache has it. The
// first answer computes the prompt; the others begin then, so that it is computed once.

import type { EngineOutput, PromptScore } from '../../engine/protocol.js';

/** What is reported of a prompt where its log probabilities are asked for. */
export interface PromptScores {
  readonly scores: readonly PromptScore[];
  /** Alternatives to report per token. */
  readonly alternatives: number;
}

export class PromptShare {
  readonly #scores: PromptScore[] = [];
  readonly #computed: Promise<void>;
  #settle: () => void = () => undefined;

  constructor() {
    this.#computed = new Promise((resolve) => (this.#settle = resolve));
  }

  /** Of the prompt's tokens from the second on, once it is computed; empty where nobody asked. */
  get scores(): readonly PromptScore[] {
    return this.#scores;
  }

  /** Takes an output of the first answer: the one with its first token ends the prompt. */
  take({ promptScores, tokens, finish }: EngineOutput): void {
    this.#scores.push(...(promptScores ?? []));
    if (tokens.length > 0 || finish !== null) this.#settle();
  }

  /** The first answer ended, however it did. */
  end(): void {
    this.#settle();
  }

  /** Outputs of another answer, which is asked for once the prompt is computed. */
  async *afterwards(open: () => AsyncIterable<EngineOutput>): AsyncGenerator<EngineOutput> {
    await this.#computed;
    yield* open();
  }
}
