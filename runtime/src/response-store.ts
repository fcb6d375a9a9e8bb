// The store of responses of one replica, where its settings ask for one, and the sweeps that hold it to its limits.

import type { ResolvedConfig } from './config/resolve-config.js';
import { S3ObjectStore } from './http/objects/s3-object-store.js';
import { MemoryResponseStore } from './http/stored-responses/memory-response-store.js';
import { outOfReach, S3ResponseStore } from './http/stored-responses/s3-response-store.js';
import { StoredResponses } from './http/stored-responses/stored-responses.js';
import type { Logger } from './log/logger.js';
import { storeSettingsOf } from './store-settings.js';
import { makeS3Client } from './weights/s3-client.js';

const memorySweepMs = 1_000;
/** Each lists all that is stored. */
const s3SweepMs = 600_000;
/** Of a request to S3: what is not stored at once is not stored at all. */
const maxAttempts = 3;
/** With its retries: answers wait until they are stored. */
const deadlineMs = 5_000;

interface StoreOfReplica {
  readonly responses: StoredResponses;
  stop(): void;
}

/** Null: none is asked for. */
export function makeResponseStore(config: ResolvedConfig, logger: Logger): StoreOfReplica | null {
  const {
    service,
    storedResponsesBytes: maxBytes,
    storedResponsesCount: maxCount,
    storedResponsesSeconds,
    storedResponsesUri: place,
  } = config.server;
  if (maxBytes === null) return null;
  const limits = { maxBytes, maxCount, maxAgeMs: storedResponsesSeconds * 1000 };
  if (place === null) {
    const store = new MemoryResponseStore(limits, () => performance.now());
    return swept(new StoredResponses(store), () => store.dropExpired(), memorySweepMs);
  }
  // Keys of other services may have the same ids.
  const prefix = service === null ? place.prefix : `${place.prefix}${service}/`;
  const objects = new S3ObjectStore(
    { ...place, prefix, deadlineMs, contentType: 'application/json', outOfReach },
    makeS3Client(storeSettingsOf(config).s3, maxAttempts),
  );
  const store = new S3ResponseStore(objects, limits, Date.now);
  let isSweeping = false;
  const sweep = (): void => {
    if (isSweeping) return;
    isSweeping = true;
    store
      .sweep()
      .then((deleted) => logger.debug('stored responses are swept', { deleted }))
      .catch((error: unknown) => logger.error('stored responses cannot be swept', { cause: String(error) }))
      .finally(() => {
        isSweeping = false;
      });
  };
  return swept(new StoredResponses(store), sweep, s3SweepMs);
}

function swept(responses: StoredResponses, sweep: () => void, everyMs: number): StoreOfReplica {
  const timer = setInterval(sweep, everyMs).unref();
  return { responses, stop: () => clearInterval(timer) };
}
