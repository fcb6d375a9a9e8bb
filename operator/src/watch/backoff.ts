// Exponential back-off, the same everywhere: first, twice that, … up to a limit.

export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Delay after the n-th failure in a row (n from 1). */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(30, failures - 1));
}
