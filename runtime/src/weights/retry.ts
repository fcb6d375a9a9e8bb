// Tries again, for ever, what failed only because the source is out of reach; everything else passes through.

import { UnavailableError } from './checkpoint-source.js';

/** How the rest of the process learns that the source is out of reach, and that it is back. */
export interface AvailabilityObserver {
  unavailable(error: UnavailableError): void;
  available(): void;
}

export type Sleep = (milliseconds: number) => Promise<void>;

const firstDelayMs = 250;
const longestDelayMs = 10_000;

/** Delay before attempt n + 1 (n from 0): doubles, with up to 30 % taken off so that many pods do not come at once. */
export function backOffMs(failures: number, random: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** failures) * (1 - 0.3 * random);
}

export async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  observer: AvailabilityObserver,
  sleep: Sleep,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const result = await attempt();
      observer.available();
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      observer.unavailable(error);
      await sleep(backOffMs(failures, Math.random()));
    }
  }
}
