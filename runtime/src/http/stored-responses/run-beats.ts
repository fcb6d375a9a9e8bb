// Shows other processes that a response still runs here: stores it as it is, now and again and again, until it has ended.
// Whoever finds one whose last beat is long ago knows that the process that ran it is gone.

import type { StoredResponse } from './stored-response.js';

const beatMs = 10_000;
/** Several beats, and what clocks may differ by. */
const staleMs = 60_000;

export class RunBeats {
  /** When it is found. */
  readonly first: Promise<unknown>;
  readonly #timer: NodeJS.Timeout;
  #last: Promise<unknown>;
  #isUnderWay = false;

  /** @param beat does not throw */
  constructor(private readonly beat: () => Promise<unknown>) {
    this.first = this.#beatOnce();
    this.#last = this.first;
    this.#timer = setInterval(() => {
      // Where the store is slow, the end of the response is not to wait for many.
      if (!this.#isUnderWay) this.#last = this.#beatOnce();
    }, beatMs).unref();
  }

  /** Resolves when nothing is stored any more: what is stored then is the last. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  #beatOnce(): Promise<unknown> {
    this.#isUnderWay = true;
    return this.beat().finally(() => {
      this.#isUnderWay = false;
    });
  }
}

/** What is found of a response that may run elsewhere: one that nobody runs any more has failed. */
export function asFound(stored: StoredResponse, nowMs: number): StoredResponse {
  const { aliveAtMs, response } = stored;
  if (aliveAtMs === null || nowMs - aliveAtMs < staleMs) return stored;
  const error = {
    code: 'server_error',
    message: 'the process that ran the response has ended: send it again',
  };
  return { ...stored, response: { ...response, status: 'failed', error } };
}
