// GET / and GET /openapi.json: what this server is, and what it takes and gives.

import type { RequestHandler } from 'express';
import { makeOpenApiDocument } from '../api/openapi-document.js';
import { mountedRoutes } from '../api/route-table.js';
import type { ServerParts } from '../replica/server-parts.js';
import { version } from '../api/version.js';

export function rootRoute({ names, lifecycle }: ServerParts): RequestHandler {
  return (_request, response) => {
    response.json({
      name: 'llmservice',
      // What KServe's clients ask version 1 of its protocol by.
      status: 'alive',
      version,
      state: lifecycle.health().state,
      models: [names.name, ...names.aliases],
      openapi: '/openapi.json',
      routes: mountedRoutes.map(({ method, path, summary }) => ({
        method: method.toUpperCase(),
        path,
        summary,
      })),
    });
  };
}

export function openApiRoute({ names }: ServerParts): RequestHandler {
  const document = makeOpenApiDocument([names.name, ...names.aliases]);
  return (_request, response) => {
    response.json(document);
  };
}
