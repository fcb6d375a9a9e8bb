// Tries again, for ever, what failed only because the source is out of reach, and a few times what it answered wrongly;
// everything else passes through.

import { backoffMs, FailureError, stores } from '@llmservice/crds';
import { UnavailableError, WrongRangeError } from './checkpoint-source.js';

/** How the rest of the process learns that the source is out of reach, and that it is back. */
export interface AvailabilityObserver {
  unavailable(error: UnavailableError): void;
  available(): void;
}

export type Sleep = (milliseconds: number) => Promise<void>;

const limits = { firstMs: 250, maxMs: 10_000 };
const wrongRangesAtMost = 6;

/** Delay after the n-th failure (n from 1), with up to 30 % taken off so that many pods do not come at once. */
export function retryMs(failures: number, random: number): number {
  return backoffMs(failures, limits) * (1 - 0.3 * random);
}

/** @throws FailureError the reason of its store where the server honours no range, and whatever else `attempt` throws */
export async function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  observer: AvailabilityObserver,
  sleep: Sleep,
): Promise<T> {
  let wrongRanges = 0;
  for (let failures = 0; ; failures += 1) {
    try {
      const result = await attempt();
      observer.available();
      return result;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      if (error instanceof WrongRangeError) wrongRanges += 1;
      if (wrongRanges === wrongRangesAtMost) throw rangeNotHonoured(error);
      observer.unavailable(error);
      await sleep(retryMs(failures + 1, Math.random()));
    }
  }
}

function rangeNotHonoured(cause: UnavailableError): FailureError {
  const message = `${cause.message}, ${String(wrongRangesAtMost)} times; a pull needs a server that honours the header Range`;
  return new FailureError(stores[cause.store].withoutRanges, message, undefined, { cause });
}
