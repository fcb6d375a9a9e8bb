// Reports to a gateway's router that asks for it what a request took, since the router parses no answer: in a header of the answer
// what was taken until it began, and in a trailer of a stream what was taken in all. A router whose client has gone closes
// its own half of the connection, which ends the request, and still reads: it gets what was taken by then.

import { headers } from '@llmservice/crds';
import { usageText } from '@llmservice/crds/keys';
import type { RequestHandler, Response } from 'express';
import { recordOf } from './request-record.js';

/** Nobody reads it: as nginx logs a client that has gone. */
const goneStatus = 499;

export const reportUsage: RequestHandler = (request, response, next) => {
  if (request.get(headers.usage) === undefined) {
    next();
    return;
  }
  const report = (): string => usageText(recordOf(response).used);
  before(response, 'writeHead', () => response.setHeader(headers.usage, report()));
  // Node leaves it out where the answer has a length.
  before(response, 'end', () => response.addTrailers({ [headers.usage]: report() }));
  const gone = (): void => {
    if (response.writableEnded || !request.complete) return;
    // Whoever still answers learns by the response's close that nobody reads it.
    response.on('error', () => undefined);
    if (!response.headersSent) response.writeHead(goneStatus);
    response.end();
  };
  // Before Node ends the connection for it.
  request.socket.prependListener('end', gone);
  response.once('close', () => request.socket.off('end', gone));
  next();
};

function before(response: Response, name: 'writeHead' | 'end', act: () => void): void {
  const method = response[name].bind(response) as (...given: unknown[]) => Response;
  let acted = false;
  response[name] = (...given: unknown[]) => {
    if (!acted && !response.writableEnded && (name === 'end' || !response.headersSent)) {
      acted = true;
      act();
    }
    return method(...given);
  };
}
