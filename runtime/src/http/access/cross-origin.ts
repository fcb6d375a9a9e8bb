// Cross-origin resource sharing (https://fetch.spec.whatwg.org/#http-cors-protocol): which web pages of other origins may
// read answers. A preflight has neither key nor certificate, so it is answered before either is asked for.

import type { RequestHandler } from 'express';
import { mountedRoutes } from '../api/route-table.js';

/** Seconds that a browser may keep the answer of a preflight. */
const maxAgeSeconds = 600;
const methods = [...new Set(mountedRoutes.map(({ method }) => method.toUpperCase()))].join(', ');

/** @param origins as browsers write them, at least one; `*`: every one. Without it no header of the protocol is sent */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const allowsAll = origins.includes('*');
  const allowed = new Set(origins);
  return (request, response, next) => {
    if (!allowsAll) response.vary('Origin');
    const origin = request.get('origin');
    if (origin === undefined || !(allowsAll || allowed.has(origin))) {
      next();
      return;
    }
    // Never with credentials: keys come in headers of the page's own, and `*` could not be said with them.
    response.setHeader('access-control-allow-origin', allowsAll ? '*' : origin);
    if (request.method !== 'OPTIONS' || request.get('access-control-request-method') === undefined) {
      response.setHeader('access-control-expose-headers', '*');
      next();
      return;
    }
    // `*` would leave out authorization.
    const asked = request.get('access-control-request-headers');
    if (asked !== undefined) response.setHeader('access-control-allow-headers', asked);
    response.vary('Access-Control-Request-Headers');
    response.setHeader('access-control-allow-methods', methods);
    response.setHeader('access-control-max-age', String(maxAgeSeconds));
    response.status(204).end();
  };
}
