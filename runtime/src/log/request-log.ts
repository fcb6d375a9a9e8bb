// One line per generation: who asked for what, how long each part took, how it ended. Never the text.

import type { Logger } from './logger.js';

export interface FinishedGeneration {
  readonly id: string;
  readonly route: string;
  readonly model: string;
  /** Id of the API key; null: none was asked for. */
  readonly key: string | null;
  readonly stream: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** `stop`, `length`, `abort` (the client went away) or `error`. */
  readonly finishReason: string;
  /** The error's code; null: none. */
  readonly errorCode: string | null;
  /** Null where the generation ended before that part. */
  readonly queueMs: number | null;
  readonly prefillMs: number | null;
  readonly decodeMs: number | null;
  readonly totalMs: number;
}

export function logGeneration(logger: Logger, generation: FinishedGeneration): void {
  const { decodeMs, completionTokens } = generation;
  // The first token belongs to the prefill.
  const tokensPerSecond =
    decodeMs === null || decodeMs <= 0 ? null : Math.round(((completionTokens - 1) * 10_000) / decodeMs) / 10;
  logger.info('generation finished', { ...generation, tokensPerSecond });
}
