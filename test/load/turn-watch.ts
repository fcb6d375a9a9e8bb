// How long a server's event loop computes at a stretch, by the processor's time: what of a stall is the server's own.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const preloaded = fileURLToPath(new URL('turn-log.ts', import.meta.url));

export class TurnWatch {
  readonly #log: string;

  /** @param log a file that need not be there yet */
  constructor(log: string) {
    this.#log = log;
  }

  /** Variables for the server to start with. */
  get env(): NodeJS.ProcessEnv {
    return { TURN_LOG: this.#log, NODE_OPTIONS: `--import ${preloaded}` };
  }

  /** Turns so far that took long. */
  get count(): number {
    return this.#turns().length;
  }

  /** Milliseconds of the longest turn after the first `skipped`; 0: none took long. */
  longestMs(skipped = 0): number {
    return Math.max(0, ...this.#turns().slice(skipped));
  }

  /** Turns after the first `skipped` that took more. */
  countOver(milliseconds: number, skipped = 0): number {
    return this.#turns().filter((ms, index) => index >= skipped && ms > milliseconds).length;
  }

  #turns(): number[] {
    if (!existsSync(this.#log)) return [];
    return readFileSync(this.#log, 'utf8').split('\n').slice(0, -1).map(Number);
  }
}
