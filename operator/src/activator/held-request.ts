// One client's request, whole, and what becomes of it: held, forwarded to a pod, or refused. A client that asked for a
// stream gets one after a while, with comments until a pod has something to say; the others get nothing before their answer.

import * as http from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ActivatorError, errorEvent } from './activator-error.js';
import { forwardedHeaders, returnedHeaders } from './hop-headers.js';

/** Before a stream begins with a comment, and between comments. */
const silenceMs = 10_000;
/** Until a pod that is there takes a connection. */
const connectMs = 5_000;
/** Of an answer that is told as an event. */
const mostErrorBytes = 64 * 1024;
const agent = new http.Agent({ keepAlive: false });

export class HeldRequest {
  /** Settles when the client has its answer, or has gone. */
  readonly ended: Promise<void>;
  private comments: NodeJS.Timeout | null = null;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly body: Buffer,
  ) {
    this.ended = new Promise((resolve) => {
      response.once('close', () => {
        this.quiet();
        resolve();
      });
    });
    if (asksForStream(request, body)) this.comments = setInterval(() => this.comment(), silenceMs);
  }

  /** Whether there is nobody to answer any more. */
  get gone(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  refuse(error: ActivatorError): void {
    this.quiet();
    refuse(this.request, this.response, error);
  }

  /** Sends it to a pod. @returns once it has left, or could not: the answer comes when it comes */
  forward(base: string): Promise<void> {
    const { url = '/', method = 'GET', headers } = this.request;
    return new Promise((left) => {
      const upstream = http.request(base + url, {
        agent,
        method,
        headers: { ...forwardedHeaders(headers), 'content-length': this.body.byteLength },
      });
      const abort = (): void => void upstream.destroy();
      this.response.once('close', abort);
      upstream.once('socket', (socket) => {
        const late = setTimeout(() => upstream.destroy(new Error('no connection')), connectMs);
        socket.once('connect', () => clearTimeout(late)).once('close', () => clearTimeout(late));
      });
      upstream.once('finish', left).once('close', left);
      upstream.on('error', () => this.fail());
      upstream.once('response', (answered) => this.relay(answered));
      upstream.end(this.body);
    });
  }

  /** Ends an answer that is under way. */
  fail(): void {
    if (this.gone) return;
    this.refuse(
      new ActivatorError('upstream_failed', 'the pod that was to answer ended before it had: try again', 1),
    );
  }

  private relay(answered: IncomingMessage): void {
    this.quiet();
    const { response } = this;
    const { statusCode = 502, headers } = answered;
    const streams = headers['content-type']?.startsWith('text/event-stream') === true;
    if (response.headersSent && !streams) return void this.tellAsEvent(answered);
    if (!response.headersSent) begin(response, statusCode, returnedHeaders(headers));
    answered.on('error', () => this.fail());
    answered.pipe(response);
  }

  /** An answer that is no stream, to a client that has been given one. */
  private async tellAsEvent(answered: IncomingMessage): Promise<void> {
    const path = this.request.url ?? '/';
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answered as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        if (bytes > mostErrorBytes) throw new Error('too long for an event');
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
}

/** Before the answer has begun as a status, within a stream as an event; within any other answer it only ends. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: ActivatorError): void {
  if (response.destroyed || response.writableEnded) return;
  const path = request.url ?? '/';
  const body = error.body(path);
  if (!response.headersSent) {
    const headers: OutgoingHttpHeaders = { 'content-type': 'application/json; charset=utf-8' };
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
function begin(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
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

function asksForStream({ method }: IncomingMessage, body: Buffer): boolean {
  if (method !== 'POST' || !body.includes('"stream"')) return false;
  try {
    return (JSON.parse(body.toString('utf8')) as { stream?: unknown } | null)?.stream === true;
  } catch {
    return false;
  }
}
