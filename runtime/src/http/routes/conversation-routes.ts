// /v1/conversations: what clients do with conversations and their items. A conversation of another API key is not found.
// Responses add to them by `conversation` on POST /v1/responses.

import type { RequestHandler } from 'express';
import type { Fields } from '../../request/body/field-table.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { refuseMedia } from '../../request/parse/refuse-media.js';
import { validateBody } from '../../request/validate/validate-body.js';
import { readQuery } from '../api/read-query.js';
import { itemQuery, itemsQuery } from '../api/response-queries.js';
import type { ServerParts } from '../replica/server-parts.js';
import { withIncluded } from '../stored-responses/stored-items.js';
import { itemsPage, listOf } from './items-page.js';
import { ofStored } from './of-stored.js';

export const createConversationRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, request, response }) => {
    // Without a body it is empty.
    const { items, metadata } = readBody('conversations', request.body ?? {});
    response.json(await stored.conversations.create(asker.owner, items ?? [], metadata ?? {}));
  });

export const getConversationRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, response }) => {
    response.json((await stored.conversations.require(asker, id)).conversation);
  });

export const updateConversationRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, request, response }) => {
    const { metadata } = readBody('conversation', request.body);
    // null takes all of it away.
    if (!Object.hasOwn(request.body as Fields, 'metadata'))
      throw invalidRequest([violationAt('metadata', 'is required')]);
    response.json(await stored.conversations.setMetadata(asker, id, metadata ?? {}));
  });

export const deleteConversationRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, response }) => {
    await stored.conversations.delete(asker, id);
    response.json({ id, object: 'conversation.deleted', deleted: true });
  });

export const addItemsRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, request, response }) => {
    const { include } = readQuery(itemQuery, request.query);
    const { items } = readBody('conversationItems', request.body);
    const added = await stored.conversations.add(asker, id, items);
    response.json(listOf(withIncluded(added, include), false));
  });

export const listItemsRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, request, response }) => {
    const query = readQuery(itemsQuery, request.query);
    response.json(itemsPage((await stored.conversations.require(asker, id)).items, query));
  });

export const getItemRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, request, response }) => {
    const { include } = readQuery(itemQuery, request.query);
    const item = await stored.conversations.requireItem(asker, id, String(request.params['item']));
    response.json(withIncluded([item], include)[0]);
  });

export const deleteItemRoute = (parts: ServerParts): RequestHandler =>
  ofConversations(parts, async ({ stored, asker, id, request, response }) => {
    response.json(await stored.conversations.deleteItem(asker, id, String(request.params['item'])));
  });

/** Those with a body wait for the model as others with a body do: this replica may end before it serves. */
function ofConversations(parts: ServerParts, handle: Parameters<typeof ofStored>[1]): RequestHandler {
  const stored = ofStored(parts, handle, 'conversation_not_found');
  return (request, response, next) => {
    if (request.method === 'POST') parts.lifecycle.requireServing();
    return stored(request, response, next);
  };
}

type Kind = 'conversations' | 'conversation' | 'conversationItems';

/** @throws ApiError invalid_request */
function readBody<Of extends Kind>(kind: Of, body: unknown): ReturnType<typeof validateBody<Of>> {
  refuseMedia((body as Fields | null)?.['items'], 'items');
  return validateBody(kind, body);
}
