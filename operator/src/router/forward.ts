// One request sent to one service: its body as it came, and the answer as it comes, without a byte kept back. A client that
// goes ends it; a service that cannot be reached, or has no room, leaves the answer to the next.

import * as http from 'node:http';
import * as https from 'node:https';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { headers as names } from '@llmservice/crds';
import { remainingHeader } from '@llmservice/crds/keys';
import { begin, refuse } from '../activator/held-request.js';
import { forwardedHeaders, returnedHeaders } from '../activator/hop-headers.js';
import type { ModelRoute } from '../domain/route-table.js';
import type { RequestCharge } from './request-charge.js';
import { RouterError } from './router-error.js';
import type { ServiceAddresses } from './service-addresses.js';

/** Until a Service's address takes a connection. */
const connectMs = 5_000;
/** How long a service may be silent before TCP probes whether it is still there. */
const probeMs = 30_000;
/** For a replica whose client has gone to say what was taken. */
const reportMs = 1_000;
const agent = new http.Agent({ keepAlive: false });
/** A session of before would stand for what its certificate proved then. */
const secureAgent = new https.Agent({ keepAlive: false, maxCachedSessions: 0 });

const limitHeaders = /^x-ratelimit-(limit|remaining|reset)-tokens$/;

export interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Kept until a service has begun to answer. */
  body: Buffer;
  /** The name that the client sent. */
  readonly model: string;
  readonly requestId: string;
  readonly addresses: Pick<ServiceAddresses, 'lookup'>;
  /** The request leaves for a service that has taken the connection. */
  readonly onSent: () => void;
  /** A service answers: nobody else is asked. */
  readonly onBegun: () => void;
  /** Null: no key is asked for, and nothing is counted. */
  charge: RequestCharge | null;
}

/** `answered`: by that service, or the client has gone. Of all others nothing has reached the client. */
export type Outcome = 'answered' | 'failed' | 'unreached' | 'unverified' | 'busy';

/**
 * @param instead the service that answers instead of the model's own is said in a header; null: it is its own
 * @param isLast whether nobody is asked after it: then 503 is the answer
 */
export async function forward(
  forwarding: Forwarding,
  route: ModelRoute,
  instead: string | null,
  isLast: boolean,
): Promise<Outcome> {
  const { request, response, addresses, charge } = forwarding;
  const url = new URL(route.url);
  const options: https.RequestOptions = {
    method: 'POST',
    hostname: url.hostname,
    port: url.port,
    // As it came: who reads it as a URL makes another path of `..`.
    path: request.url ?? '/',
    headers: headersFor(forwarding, route, url.host),
    lookup: addresses.lookup,
  };
  const upstream =
    route.ca === null
      ? http.request({ ...options, agent })
      : https.request({ ...options, agent: secureAgent, ca: route.ca, servername: url.hostname });
  const hangUp = (): void => void upstream.destroy();
  let answer: IncomingMessage | null = null;
  let reached = false;
  // A replica whose client half closes ends the request, as for one that has gone, and may still say what it took.
  const leave = (): void => {
    if (charge === null || !reached) {
      hangUp();
      return;
    }
    answer?.unpipe(response);
    answer?.resume();
    if (answer?.complete === true) return;
    upstream.socket?.end();
    const late = setTimeout(hangUp, reportMs);
    upstream.once('close', () => clearTimeout(late));
  };
  response.once('close', leave);
  try {
    return await new Promise<Outcome>((resolve) => {
      let verified = true;
      let answers = false;
      upstream.once('socket', (socket) => {
        const late = setTimeout(hangUp, connectMs);
        socket.once('close', () => clearTimeout(late));
        socket.once(route.ca === null ? 'connect' : 'secureConnect', () => {
          clearTimeout(late);
          socket.setKeepAlive(true, probeMs);
          reached = true;
          charge?.sent();
          forwarding.onSent();
        });
        socket.once('error', () => {
          // Null until it is known, whatever the types say.
          verified = !(socket instanceof TLSSocket && Boolean(socket.authorizationError));
        });
      });
      upstream.once('response', (answered) => {
        answers = true;
        // Of one whose client has gone, nobody else is asked.
        if (answered.statusCode === 503 && !isLast && !response.destroyed) {
          charge?.refused();
          hangUp();
          resolve('busy');
          return;
        }
        forwarding.onBegun();
        answer = answered;
        charge?.begun(answered);
        if (response.destroyed) answered.resume();
        else relay(answered, forwarding, instead);
        if (charge !== null) answered.on('data', (part: Buffer) => charge.passed(part));
        const ended = charge === null ? null : closed(answered).then(() => charge.ended(answered));
        void Promise.all([ended, response.destroyed ? null : closed(response)]).then(() =>
          resolve('answered'),
        );
      });
      upstream.on('error', () => undefined);
      // Which comes behind every error.
      upstream.once('close', () => {
        if (!answers)
          resolve(
            response.destroyed ? 'answered' : reached ? 'failed' : verified ? 'unreached' : 'unverified',
          );
      });
      upstream.end(forwarding.body);
    });
  } finally {
    response.off('close', leave);
  }
}

function headersFor(
  { request, body, model, requestId, charge }: Forwarding,
  route: ModelRoute,
  host: string,
): OutgoingHttpHeaders {
  const passed = Object.entries(forwardedHeaders(request.headers));
  return {
    ...Object.fromEntries(passed.filter(([name]) => name !== names.fallbackFor && name !== names.usage)),
    // By which the activator knows it, should the service be asleep.
    host,
    'content-length': body.byteLength,
    'x-request-id': requestId,
    // An answer that is packed says nothing of its tokens.
    ...(charge === null ? {} : { [names.usage]: 'report', 'accept-encoding': 'identity' }),
    ...(route.served.includes(model) ? {} : { [names.fallbackFor]: model }),
  };
}

function relay(
  answered: IncomingMessage,
  { request, response, requestId }: Forwarding,
  instead: string | null,
): void {
  const { statusCode = 502, headers } = answered;
  const streams = headers['content-type']?.startsWith('text/event-stream') === true;
  const fail = (): void => {
    if (response.destroyed || response.writableEnded) return;
    // What was cut off within an event is not to be read as one with the error.
    if (streams && response.headersSent) response.write('\n\n');
    refuse(request, response, cutOff());
  };
  answered.on('error', fail);
  // Nothing that an answer can have.
  if (statusCode < 200 || statusCode > 599) return void answered.destroy(new Error('no such status'));
  const returned = forClient(returnedHeaders(headers), response);
  // An event with an error would make it longer.
  if (streams) delete returned['content-length'];
  returned['x-request-id'] ??= requestId;
  if (instead !== null) returned[names.fallback] = instead;
  begin(response, statusCode, returned);
  answered.pipe(response);
}

/** Once nothing more comes of it, whether it is whole or not. */
function closed(stream: IncomingMessage | ServerResponse): Promise<void> {
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Without the report; and of the gateway's limit and the service's own, that of which less is left. */
function forClient(given: OutgoingHttpHeaders, response: ServerResponse): OutgoingHttpHeaders {
  const left = (value: unknown): number => (value === undefined ? Infinity : Number(value));
  const keepsLimit = left(given[remainingHeader]) < left(response.getHeader(remainingHeader));
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name]) => name !== names.usage && (keepsLimit || !limitHeaders.test(name)),
    ),
  );
}

function cutOff(): RouterError {
  return new RouterError(
    'upstream_failed',
    'the service that was to answer ended before it had: try again',
    1,
  );
}
