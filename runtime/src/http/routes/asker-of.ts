// Who asks for what is stored: what is read for a request is held as its body is, until its answer has ended, and is
// bounded as one body is.

import type { Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { recordOf } from '../access/request-record.js';
import type { HeldBody } from '../bodies/body-budget.js';
import type { ServerParts } from '../replica/server-parts.js';
import type { Asker } from '../stored-responses/stored-response.js';
import { ownerOf } from '../stored-responses/stored-responses.js';

/** What is read for a request, until its answer has ended. */
export function heldFor({ bodies }: Pick<ServerParts, 'bodies'>, response: Response): HeldBody {
  const held = bodies.open(recordOf(response).key, () => undefined);
  held.arrived();
  response.once('close', () => held.release());
  return held;
}

export function askerOf(parts: Pick<ServerParts, 'bodies'>, response: Response): Asker {
  const { bodies } = parts;
  const held = heldFor(parts, response);
  let taken = 0;
  return {
    owner: ownerOf(recordOf(response).key),
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
