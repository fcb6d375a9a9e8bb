// One client's request, whole, and what becomes of it: held, forwarded to a pod, or refused. A client that asked for a
// stream gets one after a while, with comments until a pod has something to say; the others get nothing before their answer.

import * as http from 'node:http';
import * as https from 'node:https';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { headers as headerNames } from '@llmservice/crds';
import type { PodIdentity } from '../watch/ask-pod.js';
import { ActivatorError, errorEvent, type Refusal } from './activator-error.js';
import { asksForStream } from './asks-for-stream.js';
import { forwardedHeaders, returnedHeaders } from './hop-headers.js';

/** Before a stream begins with a comment, and between comments. */
const silenceMs = 10_000;
/** Until a pod that is there takes a connection. */
const connectMs = 5_000;
/** How long a pod may be silent before TCP probes whether it is still there. */
const probeMs = 30_000;
/** Of an answer that is sent as an event. */
const maxErrorBytes = 64 * 1024;
const agent = new http.Agent({ keepAlive: false });
/** A session of before would stand for what its certificate proved then. */
const secureAgent = new https.Agent({ keepAlive: false, maxCachedSessions: 0 });

/** `unverified`: it answers, but is not the one that was meant. */
export type Reach = 'reached' | 'unreached' | 'unverified';

export class HeldRequest {
  /** Settles when the client has its answer, or has gone. */
  readonly ended: Promise<void>;
  /** Null: a pod has it, or there is nobody to answer any more. */
  private body: Buffer | null;
  private comments: NodeJS.Timeout | null = null;
  /** The answer is a pod's stream of events. */
  private relaysEvents = false;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    body: Buffer,
    /** Called once, when the body needs no room any more. */
    private readonly onBodyGone: () => void,
  ) {
    this.body = body;
    this.ended = new Promise((resolve) => {
      response.once('close', () => {
        this.quiet();
        this.dropBody();
        resolve();
      });
    });
    if (request.method === 'POST' && asksForStream(body)) {
      this.comments = setInterval(() => this.comment(), silenceMs);
    }
  }

  /** Whether there is nobody to answer any more. */
  get gone(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  refuse(error: ActivatorError): void {
    this.quiet();
    refuse(this.request, this.response, error);
  }

  /** No other request is to come over its connection. */
  endConnection(): void {
    if (!this.response.headersSent) this.response.setHeader('connection', 'close');
  }

  /**
   * Sends it to a pod. @returns once the pod has taken the connection: the answer comes when it comes; where it has not,
   * or is another, nothing was sent, and another pod may be tried
   */
  async forward(base: string, identity: PodIdentity | null): Promise<Reach> {
    const { url = '/', method = 'GET', headers } = this.request;
    const body = this.body ?? Buffer.alloc(0);
    const options: http.RequestOptions = {
      method,
      // As it came: who reads it as a URL makes another path of `..`.
      path: url,
      headers: { ...forwardedHeaders(headers), 'content-length': body.byteLength },
    };
    const upstream =
      identity === null
        ? http.request(base, { ...options, agent })
        : https.request(base, { ...options, ...identity, agent: secureAgent });
    const hangUp = (): void => void upstream.destroy();
    this.response.once('close', hangUp);
    return await new Promise((resolve) => {
      let reached = false;
      let verified = true;
      upstream.once('socket', (socket) => {
        const late = setTimeout(hangUp, connectMs);
        socket.once('close', () => clearTimeout(late));
        // Within the time of a connection; what proves to be another gets no byte of the request.
        socket.once(identity === null ? 'connect' : 'secureConnect', () => {
          clearTimeout(late);
          socket.setKeepAlive(true, probeMs);
          reached = true;
          resolve('reached');
        });
        socket.once('error', () => {
          verified = !isUnverified(socket);
        });
      });
      let answers = false;
      upstream.once('response', (answered) => {
        answers = true;
        this.relay(answered);
      });
      upstream.once('finish', () => this.dropBody());
      // Which comes behind every error, and where a pod turns to another protocol.
      upstream.once('close', () => {
        this.response.off('close', hangUp);
        if (reached && !answers) this.fail();
        resolve(reached ? 'reached' : verified ? 'unreached' : 'unverified');
      });
      upstream.on('error', () => undefined);
      upstream.end(body);
    });
  }

  /** Ends an answer that is under way. */
  fail(): void {
    if (this.gone) return;
    // What was cut off within an event is not to be read as one with the error.
    if (this.relaysEvents) this.response.write('\n\n');
    this.refuse(
      new ActivatorError('upstream_failed', 'the pod that was to answer ended before it had: try again', 1),
    );
  }

  private relay(answered: IncomingMessage): void {
    this.quiet();
    const { response } = this;
    const { statusCode = 502, headers } = answered;
    const streams = headers['content-type']?.startsWith('text/event-stream') === true;
    answered.on('error', () => this.fail());
    // Nothing that an answer can have.
    if (statusCode < 200 || statusCode > 599) return void answered.destroy(new Error('no such status'));
    if (response.headersSent && !streams) return void this.answerAsEvent(answered);
    const returned = returnedHeaders(headers);
    // An event with an error would make it longer.
    if (streams) delete returned['content-length'];
    if (!response.headersSent) begin(response, statusCode, returned);
    this.relaysEvents = streams;
    // By which a replica reports to a gateway's router what a stream took; before the pipe ends the response.
    answered.once('end', () => {
      const used = answered.trailers[headerNames.usage];
      if (used !== undefined) response.addTrailers({ [headerNames.usage]: used });
    });
    answered.pipe(response);
  }

  /** An answer that is no stream, to a client that has been given one. */
  private async answerAsEvent(answered: IncomingMessage): Promise<void> {
    const path = this.request.url ?? '/';
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answered as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        if (bytes > maxErrorBytes) throw new Error('too long for an event');
        chunks.push(chunk);
      }
      this.response.end(errorEvent(path, JSON.parse(Buffer.concat(chunks).toString('utf8')) as object));
    } catch {
      this.fail();
    }
  }

  private comment(): void {
    if (this.gone) return;
    if (!this.response.headersSent) begin(this.response, 200, streamHeaders);
    this.response.write(': waiting for the model\n\n');
  }

  private quiet(): void {
    if (this.comments !== null) clearInterval(this.comments);
    this.comments = null;
  }

  private dropBody(): void {
    if (this.body === null) return;
    this.body = null;
    this.onBodyGone();
  }
}

/** Whether a pod was refused for its certificate. */
function isUnverified(socket: Socket): boolean {
  // Null until it is known, whatever the types say.
  return socket instanceof TLSSocket && Boolean(socket.authorizationError);
}

/** Before the answer has begun as a status, within a stream as an event; within any other answer it only ends. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: Refusal): void {
  if (response.destroyed || response.writableEnded) return;
  const path = request.url ?? '/';
  const body = error.body(path);
  if (!response.headersSent) {
    const headers: OutgoingHttpHeaders = { 'content-type': 'application/json' };
    if (error.retryAfterSeconds !== null) headers['retry-after'] = String(error.retryAfterSeconds);
    // What is left of a body that nobody reads would stand before the next request.
    if (!request.complete) headers['connection'] = 'close';
    response.writeHead(error.status, headers).end(JSON.stringify(body));
  } else if (String(response.getHeader('content-type')).startsWith('text/event-stream')) {
    response.end(errorEvent(path, body));
  } else {
    response.destroy();
  }
}

/** With headers that can be asked for afterwards, which those given to writeHead cannot. */
export function begin(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(status).flushHeaders();
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
