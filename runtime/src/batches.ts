// Files and batches of one replica, where its settings ask for them.

import type { ResolvedConfig } from './config/resolve-config.js';
import { BatchService } from './http/batches/batch-service.js';
import { MemoryObjectStore } from './http/objects/memory-object-store.js';
import type { ObjectStore } from './http/objects/object-store.js';
import { S3ObjectStore } from './http/objects/s3-object-store.js';
import type { SendRow } from './http/batches/send-row.js';
import type { Lifecycle } from './http/replica/lifecycle.js';
import type { Logger } from './log/logger.js';
import { BatchMetrics } from './metrics/batch-metrics.js';
import type { ServerMetrics } from './metrics/server-metrics.js';
import { storeSettingsOf } from './store-settings.js';
import { makeS3Client } from './weights/s3-client.js';

/** Of a request to S3. */
const maxAttempts = 3;
/** With its retries: objects have some megabytes at most. */
const deadlineMs = 20_000;

/** Null: none are asked for. */
export function makeBatches(
  config: ResolvedConfig,
  { registry }: ServerMetrics,
  logger: Logger,
  lifecycle: Lifecycle,
  send: SendRow,
): BatchService | null {
  const { server, engineConfig } = config;
  const { batchesBytes, batchesFileBytes, batchesSeconds, batchesConcurrent, maxBodyBytes } = server;
  if (batchesBytes === null) return null;
  return new BatchService(makeObjects(config), {
    limits: {
      maxBytes: batchesBytes,
      maxFileBytes: batchesFileBytes,
      maxAgeMs: batchesSeconds * 1000,
    },
    // The other half is for those whose clients wait: what runs is not interrupted for what is more urgent.
    maxConcurrent: batchesConcurrent ?? Math.max(1, Math.floor(engineConfig.engine.maxNumSeqs / 2)),
    maxLineBytes: maxBodyBytes,
    isServing: () => lifecycle.model !== null,
    send,
    events: new BatchMetrics(registry, engineConfig.model.name),
    logger,
  });
}

function makeObjects(config: ResolvedConfig): ObjectStore {
  const { batchesUri: place, service } = config.server;
  if (place === null) return new MemoryObjectStore();
  // Keys of other services may have the same ids.
  const prefix = service === null ? place.prefix : `${place.prefix}${service}/`;
  const outOfReach = 'files and batches are out of reach: send the request again';
  const client = makeS3Client(storeSettingsOf(config).s3, maxAttempts);
  return new S3ObjectStore({ ...place, prefix, deadlineMs, outOfReach }, client);
}
