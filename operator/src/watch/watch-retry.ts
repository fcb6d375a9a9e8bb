// What follows the end of a watch or list: when the next is asked for, and whether all objects have to be listed first.
// A list costs the server much more than a watch that continues, and what ends one watch often ends those of all resources.

import { ApiError } from '../kube/client.js';
import { backoffMs } from '@llmservice/crds';

export interface WatchRetry {
  readonly delayMs: number;
  /** Where the watch stood is unknown to the server (any more). */
  readonly relist: boolean;
}

const backoff = { firstMs: 400, maxMs: 15_000 };
/** Expired once is how a watch grows old; the watches of all resources may grow old at the same moment. */
const expiredSpreadMs = 1_000;
/** A server, or what stands before it, may ask for any pause: changes of the cluster have to be seen some time. */
const longestPauseMs = 120_000;
/** So many times in a row 500 may hide a version that is gone. */
const doubtfulFailures = 8;
const gone: readonly number[] = [400, 404, 410];

/**
 * Full jitter (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/) on top of what the server asks
 * for: it asks the same of all watches.
 * @param failures in a row, this one with them
 * @param random in [0, 1)
 */
export function planWatchRetry(error: unknown, failures: number, random: number): WatchRetry {
  if (!(error instanceof ApiError)) return { delayMs: random * backoffMs(failures, backoff), relist: false };
  const { status, reason, retryAfterMs } = error;
  const isExpired = status === 410 || reason === 'Expired';
  const relist = isExpired || gone.includes(status) || (status === 500 && failures % doubtfulFailures === 0);
  if (isExpired && failures === 1) return { delayMs: random * expiredSpreadMs, relist };
  const pauseMs = Math.min(longestPauseMs, retryAfterMs ?? 0);
  return { delayMs: pauseMs + random * backoffMs(failures, backoff), relist };
}

/** As client-go has it: watches that begin together must not end together. @param random in [0, 1) */
export function watchSeconds(random: number): number {
  return Math.floor(300 * (1 + random));
}
