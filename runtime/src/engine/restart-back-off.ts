// How long to wait before a lost engine is started again: a first loss may be chance, one after the other is not. Pure.

import { backoffMs } from '@llmservice/crds';

/** Times in milliseconds. */
export interface BackOffLimits {
  /** First restart at once, then doubling from a second up to this. */
  readonly backOff: number;
  /** After serving this long the back-off begins anew. */
  readonly healthy: number;
}

export class RestartBackOff {
  readonly #limits: BackOffLimits;
  #lossesInARow = 0;

  constructor(limits: BackOffLimits) {
    this.#limits = limits;
  }

  /** @param servedMs how long the lost engine had served; 0 when it never did */
  delayAfter(servedMs: number): number {
    if (servedMs > this.#limits.healthy) this.#lossesInARow = 0;
    const losses = this.#lossesInARow++;
    return losses === 0 ? 0 : backoffMs(losses, { firstMs: 1000, maxMs: this.#limits.backOff });
  }
}
