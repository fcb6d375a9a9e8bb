// How long a connection may take for what the client has to do. An answer takes as long as it takes: nothing here limits
// a generation, only the sending of a request and the reading of its answer.
//   Nothing, or half a request line or header (slowloris): 408 after `headersMs`.
//   Half a body: 408 after `requestMs`, counted from the request's first byte.
//   A body whose request is answered already, such as one that is refused: read and forgotten for `lingerMs`, or until
//   nothing came for `silenceMs` or more than a body may have, and then the connection ends.
//   Headers above 16 KiB: 431 at once. No HTTP at all: 400 at once. Either ends the connection.
//   A client that reads nothing of its answer: cut off after `readerMs`; its generation is cancelled.
//   A client that closes its own half has gone: so says Node's server, and its generation is cancelled.
//   A client that vanished without a word (half-open): TCP's probes end a silent connection within a minute; where an
//   answer is being sent, its retransmissions end it after a quarter of an hour (Linux's tcp_retries2).

import type { ServerOptions } from 'node:http';

export interface ConnectionLimits {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly readerMs: number;
  readonly lingerMs: number;
  readonly silenceMs: number;
  /** How often the clocks are checked. */
  readonly lookMs: number;
}

export const connectionLimits: ConnectionLimits = {
  headersMs: 20_000,
  requestMs: 300_000,
  // The kernel takes more of an answer only once a third of its buffer is free, a megabyte and more: 12 kB/s are enough.
  readerMs: 120_000,
  // As nginx has it: lingering_time and lingering_timeout.
  lingerMs: 30_000,
  silenceMs: 5_000,
  lookMs: 5_000,
};

/** Of the request line and the headers together. */
export const maxHeaderBytes = 16 * 1024;

export function connectionOptions({ headersMs, requestMs, lookMs }: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: lookMs,
    maxHeaderSize: maxHeaderBytes,
    // A load balancer's idle connections outlive Node's default of 5 s.
    keepAliveTimeout: 75_000,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
}
