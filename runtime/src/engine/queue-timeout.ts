// Of a request that waited longer than its `maxQueueMs`.

import type { Failure } from '@llmservice/crds';

/** @param waitedMs in whole milliseconds */
export function queueTimeout(waitedMs: number): Failure {
  const message = `the request waited ${waitedMs} ms for room in the engine, longer than it allows`;
  return { reason: 'QueueTimeout', message, detail: { waitedMs } };
}
