// What the HTTP side needs of the engine; the engine client is one.

import type { EngineHealth } from '../../engine/engine-state.js';
import type { EngineOutput, EngineStats, GenerateRequest } from '../../engine/protocol.js';

export interface GenerationEngine {
  /** Null before the first step. */
  readonly stats: EngineStats | null;
  health(): EngineHealth;
  /** Nobody fetches any more what a prompt became that was computed for another engine. Idempotent. */
  withdraw(ticket: string): void;
  /** Empties the prefix cache before the next step. */
  flushCache(): void;
  /**
   * Outputs until one has `finish`; leaving the loop, or the signal, cancels within one step, but for a row that waits
   * behind it. @throws FailureError
   */
  submit(request: GenerateRequest, options: { readonly signal: AbortSignal }): AsyncIterable<EngineOutput>;
}
