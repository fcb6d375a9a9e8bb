// Exponential back-off, the same everywhere: first, twice that, … up to a limit. No library: all that it would save is one line,
// and each caller waits in a way of its own (a queue, a timer, a signal).

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Delay after the n-th failure in a row (n from 1). */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(30, failures - 1));
}
