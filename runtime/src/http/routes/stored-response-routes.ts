// /v1/responses/{id}: what clients do with a response that is stored, or that runs in the background. A response of another
// API key is not found.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { recordOf } from '../access/request-record.js';
import { readQuery } from '../api/read-query.js';
import { inputItemsQuery, retrieveQuery } from '../api/response-queries.js';
import type { ServerParts } from '../replica/server-parts.js';
import { ownerOf, type StoredResponses } from '../stored-responses/stored-responses.js';
import { follow } from './follow-events.js';

/** Items of a page, where the client does not say. */
const defaultLimit = 20;

/** A request for one response, and whose it is to be. */
interface Asked {
  readonly stored: StoredResponses;
  readonly owner: string;
  readonly id: string;
  readonly request: Request;
  readonly response: Response;
}

export const getResponseRoute = ({ storedResponses }: ServerParts): RequestHandler =>
  ofStored(storedResponses, async ({ stored, owner, id, request, response }) => {
    const { stream = false, starting_after: last } = readQuery(retrieveQuery, request.query);
    if (!stream && last !== undefined)
      throw invalidRequest([violationAt('starting_after', 'needs stream=true')]);
    if (!stream) {
      response.json((await stored.require(owner, id)).response);
      return;
    }
    const log = await stored.eventsOf(owner, id);
    if (log === null) {
      const why = 'is for a response that was created with background: true and stream: true';
      throw invalidRequest([violationAt('stream', why)]);
    }
    await follow(log, last ?? -1, response);
  });

export const deleteResponseRoute = ({ storedResponses }: ServerParts): RequestHandler =>
  ofStored(storedResponses, async ({ stored, owner, id, response }) => {
    await stored.delete(owner, id);
    response.json({ id, object: 'response', deleted: true });
  });

/** One that has ended is answered as it is: to cancel twice is to cancel once. */
export const cancelResponseRoute = ({ storedResponses }: ServerParts): RequestHandler =>
  ofStored(storedResponses, async ({ stored, owner, id, response }) => {
    const cancelled = await stored.cancel(owner, id);
    if (!cancelled.background)
      throw ApiError.of(
        'invalid_request',
        'only a response that was created with background: true can be cancelled',
      );
    response.json(cancelled);
  });

export const inputItemsRoute = ({ storedResponses }: ServerParts): RequestHandler =>
  ofStored(storedResponses, async ({ stored, owner, id, request, response }) => {
    const { limit = defaultLimit, order = 'desc', after } = readQuery(inputItemsQuery, request.query);
    const { items } = await stored.require(owner, id);
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

function ofStored(stored: StoredResponses | null, handle: (asked: Asked) => Promise<void>): RequestHandler {
  return async (request, response) => {
    if (stored === null) {
      const message =
        'no response is stored here: the server was started without --stored-responses-bytes (server.storedResponses)';
      throw ApiError.of('response_not_found', message);
    }
    const owner = ownerOf(recordOf(response).key);
    await handle({ stored, owner, id: String(request.params['id']), request, response });
  };
}
