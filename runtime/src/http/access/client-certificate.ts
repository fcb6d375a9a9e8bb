// Refuses clients without a certificate of the server's authorities, but for health and metrics. The handshake itself
// lets them in.

import { healthPaths, routes } from '@llmservice/crds';
import type { RequestHandler } from 'express';
import type { TLSSocket } from 'node:tls';
import { ApiError } from '../../request/body/api-error.js';

const openPaths = new Set([...healthPaths, routes.metrics]);

export const requireClientCertificate: RequestHandler = (request, _response, next) => {
  const socket = request.socket as TLSSocket;
  if (socket.authorized || openPaths.has(request.path)) {
    next();
    return;
  }
  const isThere = Object.keys(socket.getPeerCertificate()).length > 0;
  const why = isThere ? `the one sent is refused (${String(socket.authorizationError)})` : 'none was sent';
  throw ApiError.of(
    'client_certificate_required',
    `this server answers clients with a certificate of its authorities only: ${why}; ` +
      'send one (curl --cert FILE --key FILE)',
  );
};
