// /v1/responses/{id}: what clients do with a response that is stored, or that runs in the background. A response of another
// API key is not found.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { recordOf } from '../access/request-record.js';
import { readQuery } from '../api/read-query.js';
import { inputItemsQuery, retrieveQuery } from '../api/response-queries.js';
import type { ServerParts } from '../replica/server-parts.js';
import { withIncluded } from '../stored-responses/stored-items.js';
import type { Asker } from '../stored-responses/stored-response.js';
import type { StoredResponses } from '../stored-responses/stored-responses.js';
import { askerOf } from './asker-of.js';
import { follow } from './follow-events.js';

/** Items of a page, where the client does not say. */
const defaultLimit = 20;

/** A request for one response, and whose it is to be. */
interface Asked {
  readonly stored: StoredResponses;
  readonly asker: Asker;
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
}

export const getResponseRoute = (parts: ServerParts): RequestHandler =>
  ofStored(parts, async ({ stored, asker, id, request, response }) => {
    const query = readQuery(retrieveQuery, request.query);
    const { stream = false, starting_after: last, include_obfuscation: obfuscates = false, include } = query;
    if (!stream && last !== undefined)
      throw invalidRequest([violationAt('starting_after', 'needs stream=true')]);
    if (!stream) {
      const { response: found } = await stored.require(asker, id);
      response.json({ ...found, output: withIncluded(found.output, include) });
      return;
    }
    if (include !== undefined)
      throw invalidRequest([violationAt('include', 'needs stream=false: events come as they came before')]);
    const log = await stored.eventsOf(asker, id);
    if (log === null) {
      const why = 'is for a response that was created with background: true and stream: true';
      throw invalidRequest([violationAt('stream', why)]);
    }
    // It may be long: of those that follow, a key has the share that it has of answers.
    const leave = parts.admission.enter(1, recordOf(response).key);
    try {
      await follow(log, last ?? -1, response, { obfuscates });
    } finally {
      leave();
    }
  });

export const deleteResponseRoute = (parts: ServerParts): RequestHandler =>
  ofStored(parts, async ({ stored, asker, id, response }) => {
    await stored.delete(asker, id);
    response.json({ id, object: 'response', deleted: true });
  });

/** One that has ended is answered as it is: to cancel twice is to cancel once. */
export const cancelResponseRoute = (parts: ServerParts): RequestHandler =>
  ofStored(parts, async ({ stored, asker, id, response }) => {
    const cancelled = await stored.cancel(asker, id);
    if (!cancelled.background)
      throw ApiError.of(
        'invalid_request',
        'only a response that was created with background: true can be cancelled',
      );
    response.json(cancelled);
  });

export const inputItemsRoute = (parts: ServerParts): RequestHandler =>
  ofStored(parts, async ({ stored, asker, id, request, response }) => {
    const query = readQuery(inputItemsQuery, request.query);
    const { limit = defaultLimit, order = 'desc', after, include } = query;
    const items = withIncluded((await stored.require(asker, id)).items, include);
    const inOrder = order === 'asc' ? items : items.toReversed();
    const begin = after === undefined ? 0 : inOrder.findIndex((item) => item.id === after) + 1;
    if (after !== undefined && begin === 0)
      throw invalidRequest([violationAt('after', 'is the id of no item of this response')]);
    const data = inOrder.slice(begin, begin + limit);
    response.json({
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: begin + data.length < inOrder.length,
    });
  });

function ofStored(parts: ServerParts, handle: (asked: Asked) => Promise<void>): RequestHandler {
  return async (request, response) => {
    const { storedResponses: stored } = parts;
    if (stored === null) {
      const message =
        'no response is stored here: the server was started without --stored-responses-bytes (server.storedResponses)';
      throw ApiError.of('response_not_found', message);
    }
    const asker = askerOf(parts, response);
    await handle({ stored, asker, id: String(request.params['id']), request, response });
  };
}
