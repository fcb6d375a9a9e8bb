// Sends a request of a batch to this process's own routes, over a connection in memory: it is admitted, accounted, logged and
// answered as any other, under the id of the key that the batch belongs to, whose text nobody keeps. Nothing listens.

import type { RequestListener } from 'node:http';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ConfiguredKey } from '@llmservice/crds';
import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import type { RowAnswer } from './batch-row.js';

/** A request of a batch of this owner. @throws the signal's reason */
export type SendRow = (
  owner: string,
  endpoint: BatchEndpoint,
  body: string,
  signal: AbortSignal,
) => Promise<RowAnswer>;

interface KeysById {
  withId(id: string): ConfiguredKey | null;
}

/** As requests over the connections in memory present a key: by its id, which may have any characters. */
export const keysByName = (keys: KeysById): { find(presented: string): ConfiguredKey | null } => ({
  find: (presented) => keys.withId(Buffer.from(presented, 'hex').toString()),
});

/** @param listener the routes, with keys as `keysByName` has them */
export function rowSender(listener: RequestListener): SendRow {
  const server = createServer(listener);
  return (owner, endpoint, body, signal) =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          method: 'POST',
          path: endpoint,
          createConnection: () => connect(server),
          headers: {
            host: 'localhost',
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            ...(owner === '' ? {} : { authorization: `Bearer ${Buffer.from(owner).toString('hex')}` }),
          },
          signal,
        },
        (response) => {
          const requestId = response.headers['x-request-id'];
          text(response)
            .then((answer) =>
              resolve({
                status: response.statusCode ?? 500,
                requestId: typeof requestId === 'string' ? requestId : '',
                body: answer,
              }),
            )
            .catch(reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
}

/** The client's end. */
function connect(server: Server): Duplex {
  const [client, serving] = duplexPair();
  // What is destroyed at one end is not at the other.
  client.once('close', () => serving.destroy());
  serving.once('close', () => {
    if (!serving.writableFinished) client.destroy();
  });
  // As Node documents it for connections of one's own.
  server.emit('connection', serving);
  return client;
}
