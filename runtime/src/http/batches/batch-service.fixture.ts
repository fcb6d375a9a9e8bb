// Files and batches in memory, for a scripted server.

import { BatchService, type BatchServiceOptions } from './batch-service.js';
import { MemoryObjectStore } from '../objects/memory-object-store.js';
import type { ObjectStore } from '../objects/object-store.js';

export type MadeBatches = (made: Pick<BatchServiceOptions, 'isServing' | 'send' | 'logger'>) => BatchService;

export const smallBatches =
  (changes: Partial<BatchServiceOptions> = {}, objects: ObjectStore = new MemoryObjectStore()): MadeBatches =>
  (made) =>
    new BatchService(objects, {
      limits: { maxBytes: 50_000_000, maxFileBytes: 10_000_000, maxAgeMs: 86_400_000 },
      maxConcurrent: 4,
      maxLineBytes: 100_000,
      leaseMs: 2_000,
      retryMs: 20,
      events: { rowEnded: () => undefined, batchEnded: () => undefined },
      ...made,
      ...changes,
    });
