// The conversion webhook: HTTPS in every replica, leader or not. Who calls is not authenticated, as with other webhooks: an
// answer holds nothing that the request does not, and bodies are bounded, each and all together.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { ConversionCertificate } from './conversion-certificate.js';
import { convertReview } from './convert-review.js';
import type { KeyedCertificate } from './self-signed-certificate.js';

export interface ConversionServerOptions {
  readonly port: number;
  readonly certificate: Pick<ConversionCertificate, 'ensure'>;
  readonly logger: Logger;
  /** How often the certificate is read. */
  readonly intervalMs?: number;
  /** After an error. */
  readonly retryMs?: number;
  readonly maxBodyBytes?: number;
}

/**
 * The API server takes objects of up to 3 MiB, and has each converted by itself as it reads it from storage. More would let
 * anybody hold the leader's thread: 4 MiB of empty objects take a second to parse, and 100 MiB of memory.
 */
const maxBodyBytes = 4 * 2 ** 20;
/** Of this many bodies at once. */
const maxBodies = 4;
const timeouts = { headersTimeout: 10_000, requestTimeout: 20_000, handshakeTimeout: 10_000 };

class RefusedError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export class ConversionServer {
  private server: Server | null = null;
  private served: KeyedCertificate | null = null;
  private trouble: string | null = 'the certificate of the conversion webhook is not made yet';
  private heldBytes = 0;

  constructor(private readonly options: ConversionServerOptions) {}

  /** Why this replica cannot convert; null: it can, or is not asked to. What it could once it still can. */
  notReady(): string | null {
    return this.server === null ? this.trouble : null;
  }

  get port(): number | null {
    const address = this.server?.address();
    return typeof address === 'object' ? (address?.port ?? null) : null;
  }

  /** Serves, and keeps the certificate, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs = 60_000, retryMs = 5_000 } = this.options;
    while (!signal.aborted) {
      const waitMs = (await this.look()) ? intervalMs : retryMs;
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
    this.server?.close();
    this.server?.closeAllConnections();
    this.server = null;
  }

  private async look(): Promise<boolean> {
    const { certificate, logger } = this.options;
    try {
      const pair = await certificate.ensure();
      if (pair !== null && (pair.cert !== this.served?.cert || pair.key !== this.served.key))
        await this.serve(pair);
      this.trouble = null;
      return true;
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.trouble)
        logger.warn('the certificate of the conversion webhook was not read', { error: message });
      this.trouble = message;
      return false;
    }
  }

  private async serve(pair: KeyedCertificate): Promise<void> {
    if (this.server === null) {
      const server = createServer(
        { ...pair, ...timeouts },
        (request, response) => void this.answer(request, response),
      );
      server.maxConnections = 256;
      server.listen(this.options.port);
      await once(server, 'listening');
      this.server = server;
    } else {
      this.server.setSecureContext(pair);
    }
    this.served = pair;
    this.options.logger.info('conversion webhook serves', { port: this.port });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, json: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(json);
    };
    try {
      // All that can fail, before the head is written: what is thrown after that ends the process.
      send(200, JSON.stringify(convertReview(parseJson('the body', await this.bodyOf(request)))));
    } catch (error) {
      // What cannot be answered is not read further either.
      response.setHeader('connection', 'close');
      const { status, code, message } = refusalOf(error as Error);
      this.options.logger.warn('conversion refused', { code, error: message });
      send(status, JSON.stringify({ error: { code, message } }));
    }
  }

  private async bodyOf(request: IncomingMessage): Promise<string> {
    const max = this.options.maxBodyBytes ?? maxBodyBytes;
    if ((request.url ?? '').split('?')[0] !== '/convert')
      throw new RefusedError(404, 'NotFound', 'there is /convert alone');
    if (request.method !== 'POST') throw new RefusedError(405, 'MethodNotAllowed', '/convert takes POST');
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength;
        this.heldBytes += chunk.byteLength;
        if (bytes > max)
          throw new RefusedError(413, 'BodyTooLarge', `the body has more than ${String(max)} bytes`);
        if (this.heldBytes > maxBodies * max)
          throw new RefusedError(503, 'TooManyBodies', 'too many bodies are read at once: try again');
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString();
    } finally {
      this.heldBytes -= bytes;
    }
  }
}

function refusalOf(error: Error & { readonly code?: string }): {
  status: number;
  code: string;
  message: string;
} {
  if (error instanceof RefusedError)
    return { status: error.status, code: error.code, message: error.message };
  // JSON is read to any depth, and written by recursion.
  if (error instanceof RangeError)
    return { status: 400, code: 'TooDeep', message: 'the values of the body are nested too deep' };
  return { status: 400, code: error.code ?? error.name, message: error.message };
}
