// Routes of what is stored of responses and conversations: whose it is, and where the server stores nothing.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import type { ServerParts } from '../replica/server-parts.js';
import type { Asker } from '../stored-responses/stored-response.js';
import type { StoredResponses } from '../stored-responses/stored-responses.js';
import { askerOf } from './asker-of.js';

interface Asked {
  readonly stored: StoredResponses;
  readonly asker: Asker;
  /** Of the path, or empty. */
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
}

/** @param code of the 404 where the server stores nothing */
export function ofStored(
  parts: ServerParts,
  handle: (asked: Asked) => Promise<void>,
  code: 'response_not_found' | 'conversation_not_found' = 'response_not_found',
): RequestHandler {
  return async (request, response) => {
    const { storedResponses: stored } = parts;
    if (stored === null) {
      const message =
        'nothing is stored here: the server was started without --stored-responses-bytes (server.storedResponses)';
      throw ApiError.of(code, message);
    }
    const { id = '' } = request.params;
    await handle({ stored, asker: askerOf(parts, response), id: String(id), request, response });
  };
}
