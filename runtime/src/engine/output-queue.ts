// Outputs of one generation on their way from the engine's messages to the code that reads them.
// A slow reader gets several steps' outputs as one; memory is bounded by the generation's own length.

import type { FailureError } from '@llmservice/crds';
import type { EngineOutput } from './protocol.js';

export class OutputQueue {
  #pending: EngineOutput | null = null;
  #failure: FailureError | null = null;
  #closed = false;
  #wake: () => void = () => undefined;

  push(output: EngineOutput): void {
    this.#pending = this.#pending === null ? output : mergeOutputs(this.#pending, output);
    this.#wake();
  }

  /** What was pushed before is still read first. */
  fail(failure: FailureError): void {
    this.#failure ??= failure;
    this.#wake();
  }

  /** Nobody wants the rest. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Null once closed. @throws FailureError */
  async next(): Promise<EngineOutput | null> {
    for (;;) {
      if (this.#closed) return null;
      const output = this.#pending;
      this.#pending = null;
      if (output !== null) return output;
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** An output that adds nothing. */
export const emptyOutput: EngineOutput = {
  tokens: [],
  logprobs: null,
  promptScores: null,
  finish: null,
  stopToken: null,
  stopLogprobs: null,
  queueMs: null,
  cachedTokens: null,
  preemptions: 0,
  acceptedDrafts: 0,
  embedding: null,
  offered: null,
};

/** What two outputs of one generation are as one. */
export function mergeOutputs(earlier: EngineOutput, later: EngineOutput): EngineOutput {
  return {
    tokens: [...earlier.tokens, ...later.tokens],
    logprobs: joined(earlier.logprobs, later.logprobs),
    promptScores: joined(earlier.promptScores, later.promptScores),
    finish: later.finish,
    stopToken: later.stopToken,
    stopLogprobs: later.stopLogprobs,
    queueMs: earlier.queueMs ?? later.queueMs,
    cachedTokens: earlier.cachedTokens ?? later.cachedTokens,
    preemptions: earlier.preemptions + later.preemptions,
    acceptedDrafts: earlier.acceptedDrafts + later.acceptedDrafts,
    embedding: later.embedding,
    offered: later.offered,
  };
}

function joined<T>(earlier: readonly T[] | null, later: readonly T[] | null): readonly T[] | null {
  return earlier === null || later === null ? (earlier ?? later) : [...earlier, ...later];
}
