// Changes that several processes make of one object, each by a write that succeeds only if the object is still as it was
// read: whoever comes too late reads it again.

import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../request/body/api-error.js';

/** Of a few that change the same object. */
const maxAttempts = 20;
const retryMs = 20;

/**
 * @param attempt reads and writes; null: another write came first
 * @param named what is changed, for the message
 * @throws ApiError server_busy; what `attempt` throws
 */
export async function untilWritten<T>(attempt: () => Promise<T | null>, named: string): Promise<T> {
  for (let failures = 1; failures <= maxAttempts; failures++) {
    const written = await attempt();
    if (written !== null) return written;
    await wait(retryMs * Math.random() * failures);
  }
  const message = `${named} is being changed by others: send the request again`;
  throw ApiError.of('server_busy', message, { retryAfterSeconds: 1 });
}
