// The page at /ui, its files, and what it shows. The page shows no secret, so anybody may load it; what it shows and
// the chat ask for a key where there are keys.

import express, { type RequestHandler } from 'express';
import { fileURLToPath } from 'node:url';
import type { ServerParts } from '../replica/server-parts.js';

/** The same folders whether this module runs compiled or from source. */
const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const written = folder('../../../ui');
const compiled = folder('../../../dist/ui');

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

export const uiRoute: RequestHandler = (request, response) => {
  // The page's paths are relative to /ui; relative too is the way there, which leads behind any prefix.
  if (request.path.endsWith('/')) response.redirect(308, '../ui');
  else response.set(headers).sendFile('index.html', { root: written });
};

/** Styles and scripts; sources and build records lie beside them. */
export const uiFiles: readonly RequestHandler[] = [filesOf(written, '.css'), filesOf(compiled, '.js')];

export function uiStatusRoute({ names, lifecycle, recentErrors }: ServerParts): RequestHandler {
  return (_request, response) => {
    const { state, load, failure } = lifecycle.health();
    const stats = lifecycle.engine?.stats ?? null;
    response.json({
      model: names.name,
      state,
      failure,
      load,
      engine: stats && {
        running: stats.running,
        waiting: stats.waiting,
        blocksUsed: stats.blocksUsed,
        blocksTotal: stats.blocksTotal,
        generatedTokens: stats.generationTokensTotal,
      },
      errors: recentErrors.errors,
    });
  };
}

function filesOf(root: string, extension: string): RequestHandler {
  const serve = express.static(root, {
    index: false,
    redirect: false,
    setHeaders: (response) => response.set(headers),
  });
  return (request, response, next) => {
    if (request.path.endsWith(extension)) serve(request, response, next);
    else next();
  };
}
