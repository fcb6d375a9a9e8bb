// Sends the events of a response that runs, or ran, in the background, from any of them on.

import type { Response } from 'express';
import { commentEvent } from '../protocols/sse-event.js';
import type { EventLog } from '../stored-responses/event-log.js';
import { SseStream } from './sse-stream.js';

/**
 * Resolves when the last event is sent, or the client is gone.
 * @param sequence number of the last event that the client has; -1: none
 */
export async function follow(
  log: EventLog,
  sequence: number,
  response: Response,
  { obfuscates = false } = {},
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const sse = new SseStream(response, commentEvent, obfuscates);
  // The next event of a response that runs may be long in coming.
  sse.begin();
  for await (const events of log.after(sequence, gone.signal)) await sse.send(...events);
  sse.end();
}
