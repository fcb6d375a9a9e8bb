// Sends a request of a batch to this process's own routes, over a connection in memory: it is admitted, accounted, logged and
// answered as any other, under the id of the key that the batch belongs to, whose text nobody keeps. Nothing listens.

import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import type { ConfiguredKey } from '@llmservice/crds';
import { ApiError } from '../../request/body/api-error.js';
import type { BatchEndpoint } from '../../request/fields/batch-fields.js';
import { refusedAnswer, type RowAnswer } from './batch-row.js';

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
export const keysByName = (keys: KeysById): KeysById & { find(presented: string): ConfiguredKey | null } => ({
  withId: (id) => keys.withId(id),
  find: (presented) => keys.withId(Buffer.from(presented, 'hex').toString()),
});

/** Held for each row until it is stored. A chat of 8,000 tokens with 20 log probabilities each has as many. */
const maxAnswerBytes = 16 * 1024 * 1024;

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
          answerOf(response).then(resolve, reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
}

async function answerOf(response: IncomingMessage): Promise<RowAnswer> {
  const named = response.headers['x-request-id'];
  const requestId = typeof named === 'string' ? named : '';
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    // The connection ends with the loop.
    if (bytes > maxAnswerBytes) return refusedAnswer(tooLarge(), requestId);
    parts.push(part);
  }
  return { status: response.statusCode ?? 500, requestId, body: Buffer.concat(parts).toString() };
}

const tooLarge = (): ApiError =>
  ApiError.of(
    'request_too_large',
    `the answer has more than ${String(maxAnswerBytes)} bytes: ask for less in one request`,
  );

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
