// Cuts off a body that hardly comes: it would hold its room for as long as a request may take. As replicas do, and by the
// same pace.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyPace } from '@llmservice/crds';
import { refuse } from '../activator/held-request.js';
import { RouterError } from './router-error.js';

/** @returns ends the looking; who reads the request gets the error that its client gets */
export function cutWhereSlow(
  request: IncomingMessage,
  response: ServerResponse,
  { windowMs, bytesPerSecond }: BodyPace,
): () => void {
  let before = request.socket.bytesRead;
  const look = (): void => {
    const { bytesRead } = request.socket;
    const isSlow = (bytesRead - before) * 1000 < bytesPerSecond * windowMs;
    before = bytesRead;
    if (!isSlow || request.complete || response.writableEnded || response.destroyed) return;
    const error = new RouterError(
      'request_timeout',
      'the body came too slowly: send the request again whole',
    );
    response.once('finish', () => request.destroy(error));
    refuse(request, response, error);
  };
  // Behind what came while this process stalled.
  const looking = setInterval(() => setImmediate(look), windowMs);
  return () => clearInterval(looking);
}
