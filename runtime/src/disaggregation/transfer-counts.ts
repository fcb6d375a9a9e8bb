// What an engine process counts of prompts that others compute for it, or that it computes for others.

import { fallbackReasons, type FallbackReason } from './prefill-failed.js';

export interface TransferStats {
  /** Prompts, and tokens of them, that came from prefill pods. */
  readonly promptsTotal: number;
  readonly tokensTotal: number;
  readonly bytesTotal: number;
  /** From the question to the answer, and from there to the last byte. */
  readonly askedSecondsTotal: number;
  readonly fetchedSecondsTotal: number;
  /** Prompts that were computed here though another pod was to do so. */
  readonly fallbacksTotal: Readonly<Record<FallbackReason, number>>;
  /** Of a prefill pod: prompts that wait to be fetched, and those that were not in time. */
  readonly ticketsOpen: number;
  readonly ticketsExpiredTotal: number;
}

export class TransferCounts {
  readonly #fallbacks = Object.fromEntries(fallbackReasons.map((reason) => [reason, 0])) as Record<
    FallbackReason,
    number
  >;
  #prompts = 0;
  #tokens = 0;
  #bytes = 0;
  #askedMs = 0;
  #fetchedMs = 0;
  #expired = 0;
  /** Changes with the tickets. */
  ticketsOpen = 0;

  asked(milliseconds: number): void {
    this.#askedMs += milliseconds;
  }

  fetched(tokens: number, bytes: number, milliseconds: number): void {
    this.#prompts++;
    this.#tokens += tokens;
    this.#bytes += bytes;
    this.#fetchedMs += milliseconds;
  }

  fellBack(reason: FallbackReason): void {
    this.#fallbacks[reason]++;
  }

  expired(): void {
    this.#expired++;
  }

  get stats(): TransferStats {
    return {
      promptsTotal: this.#prompts,
      tokensTotal: this.#tokens,
      bytesTotal: this.#bytes,
      askedSecondsTotal: this.#askedMs / 1000,
      fetchedSecondsTotal: this.#fetchedMs / 1000,
      fallbacksTotal: { ...this.#fallbacks },
      ticketsOpen: this.ticketsOpen,
      ticketsExpiredTotal: this.#expired,
    };
  }
}
