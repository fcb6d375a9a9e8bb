// POST /v1/stream-check: a few events at a known pace, each with the time at which it was sent. Who asks from the far
// side of a proxy sees by the times of arrival whether it keeps them back. The engine has no part in it, so that it is
// no use of the model, and answers however fast the model is. Who names this service learns that it is the one: others,
// strangers among them, learn no names.

import { setTimeout as sleep } from 'node:timers/promises';
import { headers } from '@llmservice/crds';
import type { RequestHandler } from 'express';
import type { ServerParts } from '../replica/server-parts.js';
import { commentEvent, plainEvent } from '../protocols/sse-event.js';
import { SseStream } from './sse-stream.js';

const events = 5;
const gapMs = 200;

export function streamCheckRoute({ now, service }: Pick<ServerParts, 'now' | 'service'>): RequestHandler {
  return async (request, response) => {
    const isMeant = service !== null && request.headers[headers.service] === service;
    // As an answer is streamed, headers included: what proxies do depends on them.
    const stream = new SseStream(response, commentEvent);
    const startedAt = now();
    for (let event = 1; event <= events && !response.destroyed; event += 1) {
      if (event > 1) await sleep(gapMs);
      await stream.send(
        plainEvent({
          event,
          of: events,
          sent_ms: Math.round(now() - startedAt),
          ...(isMeant ? { service } : {}),
        }),
      );
    }
    stream.end();
  };
}
