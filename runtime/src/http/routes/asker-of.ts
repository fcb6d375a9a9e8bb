// Who asks for what is stored: what is read for a request is held as its body is, until its answer has ended, and is
// bounded as one body is.

import type { Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { recordOf } from '../access/request-record.js';
import type { ServerParts } from '../replica/server-parts.js';
import type { Asker } from '../stored-responses/stored-response.js';
import { ownerOf } from '../stored-responses/stored-responses.js';

export function askerOf({ bodies }: Pick<ServerParts, 'bodies'>, response: Response): Asker {
  const { key } = recordOf(response);
  const held = bodies.open(key, () => undefined);
  held.arrived();
  response.once('close', () => held.release());
  let taken = 0;
  return {
    owner: ownerOf(key),
    take(bytes) {
      // Its end would be waited for in vain.
      if (response.destroyed) throw ApiError.of('request_aborted', 'the client went away');
      taken += bytes;
      if (taken > bodies.largestBytes) throw tooLarge(bodies.largestBytes);
      held.take(bytes);
    },
  };
}

function tooLarge(maxBytes: number): ApiError {
  const message = `the stored responses that the request refers to have more than ${String(maxBytes)} bytes, which is the limit of a body`;
  return ApiError.of('request_too_large', message);
}
