// Sends an answer as JSON. A long one is written in turn with other long computations, so that streams continue meanwhile.

import type { Response } from 'express';
import { atOnce, type LoopTurns } from '../../loop-turns.js';
import { LongJson } from '../../request/text/long-json.js';

/** Entries of an answer's lists that take less than some milliseconds. */
const fewEntries = 256;

/**
 * @param answer may have a LongList
 * @throws the signal's reason
 */
export async function sendJson(
  response: Response,
  answer: object,
  turns: LoopTurns,
  signal: AbortSignal,
): Promise<void> {
  const json = new LongJson(answer);
  const parts =
    json.entries <= fewEntries ? atOnce(json.parts()) : await turns.run(() => json.parts(), signal);
  signal.throwIfAborted();
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader(
    'content-length',
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  for (const part of parts) response.write(part);
  response.end();
}
