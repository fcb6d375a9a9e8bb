// HTTPS to the activator, for services whose clients speak it: one certificate, for the names of all of them, from files that
// may change while it serves, as those of a mounted Secret do. Files that cannot be used leave the last good ones, and are
// logged once. The runtime's TlsReload does the same for other files and checks: what both share is fewer lines than an export.

import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'winston';

/** Kubernetes brings a changed Secret within a minute. */
const lookMs = 5_000;
/** How long a client may take for its handshake. */
const handshakeTimeout = 20_000;

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** @throws Error where tls.crt and tls.key cannot be read or are no pair */
export function listenByTls(folder: string, options: ServerOptions, logger: Logger): Server {
  let served = readPair(folder);
  let lastComplaint = '';
  const server = createServer({ ...options, ...served, handshakeTimeout });
  const look = setInterval(() => {
    try {
      const pair = readPair(folder);
      lastComplaint = '';
      if (pair.cert === served.cert && pair.key === served.key) return;
      server.setSecureContext(pair);
      served = pair;
      logger.info('another certificate is served');
    } catch (error) {
      const { message } = error as Error;
      if (message !== lastComplaint)
        logger.warn('the certificate was not taken; the last good one stays', { error: message });
      lastComplaint = message;
    }
  }, lookMs);
  server.once('close', () => clearInterval(look));
  return server;
}

function readPair(folder: string): Pair {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const pair = { cert: read('tls.crt'), key: read('tls.key') };
  createSecureContext(pair);
  return pair;
}
