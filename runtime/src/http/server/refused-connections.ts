// What was refused because all connections are in use, counted, and logged at most every ten seconds: who floods
// the server does not flood its log.

import type { Logger } from '../../log/logger.js';

/** busy: answered with 503; dropped: closed unheard, since there were too many of these as well. */
export type RefusedHow = 'busy' | 'dropped';

const quietMs = 10_000;

export class RefusedConnections {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #count: (how: RefusedHow) => void;
  readonly #quietMs: number;
  /** Since the last line. */
  #unlogged = { busy: 0, dropped: 0 };
  /** While it runs no line is written. */
  #quiet: NodeJS.Timeout | null = null;

  constructor(logger: Pick<Logger, 'warn'>, count: (how: RefusedHow) => void, quiet = quietMs) {
    this.#logger = logger;
    this.#count = count;
    this.#quietMs = quiet;
  }

  add(how: RefusedHow): void {
    this.#count(how);
    this.#unlogged[how] += 1;
    if (this.#quiet === null) this.#log();
  }

  stop(): void {
    if (this.#quiet !== null) clearTimeout(this.#quiet);
  }

  #log(): void {
    this.#quiet = null;
    const { busy, dropped } = this.#unlogged;
    if (busy + dropped === 0) return;
    this.#logger.warn('all connections are in use: others are refused', { busy, dropped });
    this.#unlogged = { busy: 0, dropped: 0 };
    this.#quiet = setTimeout(() => this.#log(), this.#quietMs).unref();
  }
}
