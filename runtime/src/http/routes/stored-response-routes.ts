// /v1/responses/{id}: what clients do with a response that is stored, or that runs in the background. A response of another
// API key is not found.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { recordOf } from '../access/request-record.js';
import { readQuery } from '../api/read-query.js';
import { itemsQuery, retrieveQuery } from '../api/response-queries.js';
import type { ServerParts } from '../replica/server-parts.js';
import { withIncluded } from '../stored-responses/stored-items.js';
import { follow } from './follow-events.js';
import { itemsPage } from './items-page.js';
import { ofStored } from './of-stored.js';

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
    const query = readQuery(itemsQuery, request.query);
    response.json(itemsPage((await stored.require(asker, id)).items, query));
  });
