// Routes of files and batches: whose they are, and where the server keeps none.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { recordOf } from '../access/request-record.js';
import type { BatchService } from '../batches/batch-service.js';
import type { ServerParts } from '../replica/server-parts.js';
import { ownerOf } from '../stored-responses/stored-responses.js';

interface Asked {
  readonly service: BatchService;
  /** What one owner stores, no other finds. */
  readonly owner: string;
  /** Empty: the path has none. */
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
}

export function ofBatches(
  { batches: service }: Pick<ServerParts, 'batches'>,
  handle: (asked: Asked) => Promise<void>,
): RequestHandler {
  return async (request, response) => {
    if (service === null) {
      const message =
        'no files are kept here, and no batches run: the server was started without --batches-bytes (server.batches); ' +
        'send each request by itself, with a priority above 0 where others are to come first';
      throw ApiError.of('route_not_found', message);
    }
    const { id = '' } = request.params;
    await handle({ service, owner: ownerOf(recordOf(response).key), id: String(id), request, response });
  };
}
