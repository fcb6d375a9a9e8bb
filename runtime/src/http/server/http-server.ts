// The listening server and its graceful end: no new generations, running ones and answers on their way to their end or to
// the deadline, then every connection closed.

import type { Express } from 'express';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { ApiError } from '../../request/body/api-error.js';
import { answerClientErrors } from './client-errors.js';
import { connectionLimits, connectionOptions } from './connection-limits.js';
import type { ServerParts } from '../replica/server-parts.js';
import { ConnectionRoom } from './connection-room.js';
import { OpenAnswers } from './open-answers.js';
import { RefusedConnections } from './refused-connections.js';
import { RefusedUploads } from './refused-uploads.js';
import { StalledReaders } from './stalled-readers.js';
import type { TlsFiles } from './tls-files.js';
import { TlsReload } from './tls-reload.js';

const pollMs = 50;
/** Time for error events, and for what is almost sent, to reach their clients after the deadline. */
const farewellMs = 2_000;
/** Time for what ran behind the last connections to be accounted for. */
const settleMs = 1_000;

/** Where the server's TLS files lie, and what they were at its start. */
export interface TlsSource {
  readonly folder: string;
  readonly files: TlsFiles;
  readonly reloadMs?: number;
}

export class HttpServer {
  private readonly server: Server;
  private readonly reload: TlsReload | null = null;
  private readonly stalled: StalledReaders;
  private readonly refused: RefusedConnections;
  private readonly uploads: RefusedUploads;
  private readonly slowBodies: NodeJS.Timeout;
  private readonly answers: OpenAnswers;
  private readonly sockets = new Set<Socket>();
  private draining = false;

  /** @param tls null: plain HTTP */
  constructor(
    app: Express,
    private readonly parts: ServerParts,
    tls: TlsSource | null = null,
    limits = connectionLimits,
  ) {
    const options = connectionOptions(limits);
    const { bodies, maxConnections, metrics, logger } = parts;
    this.refused = new RefusedConnections(logger, (how) => metrics.connectionRefused(how));
    const room = new ConnectionRoom(
      maxConnections,
      () => bodies.makeRoom(),
      (how) => this.refused.add(how),
    );
    const listener = room.guard(app);
    if (tls === null) {
      this.server = createServer(options, listener);
    } else {
      const asks = tls.files.ca !== undefined;
      const server = createTlsServer(
        {
          ...options,
          ...tls.files,
          requestCert: asks,
          rejectUnauthorized: false,
          handshakeTimeout: limits.headersMs,
        },
        listener,
      );
      this.reload = new TlsReload(server, tls.folder, tls.files, parts.logger, tls.reloadMs);
      this.server = server;
    }
    room.watch(this.server);
    // A client that keeps its connection would be refused on it again and again, and never meet another replica.
    this.server.prependListener('request', (_, response) => {
      if (this.draining) response.setHeader('connection', 'close');
    });
    this.answers = new OpenAnswers(this.server);
    answerClientErrors(this.server, this.answers);
    this.stalled = new StalledReaders(this.server, limits);
    this.uploads = new RefusedUploads(this.server, bodies.largestBytes, limits);
    this.slowBodies = setInterval(() => bodies.cutSlow(), limits.lookMs).unref();
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /**
   * Resolves with the port that it listens on.
   * @param host null: every address, of IPv6 too
   */
  async listen(host: string | null, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host ?? undefined, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    // Of a connection that the kernel had no memory for: unheard, it would end the process with all that runs on it.
    this.server.on('error', ({ message }) =>
      this.parts.logger.error('a connection was not accepted', { cause: message }),
    );
    return (this.server.address() as AddressInfo).port;
  }

  /**
   * Resolves when no generation runs any more and every answer is sent whole: ended by themselves, or by the deadline,
   * generations with a clean error event.
   */
  async drain(timeoutMs: number): Promise<void> {
    const { lifecycle, admission, running, now, logger } = this.parts;
    lifecycle.startDraining();
    this.draining = true;
    this.answers.closeIdle();
    const startedAt = now();
    // A generation has left the admission when its answer is made, which a client may read for minutes.
    const isBusy = (): boolean => admission.inFlight > 0 || this.answers.underWay > 0;
    while (isBusy() && now() - startedAt < timeoutMs) await wait(pollMs);
    logger.info('drained', { afterMs: Math.round(now() - startedAt), cut: this.answers.underWay });
    const reason = ApiError.of('draining', 'this replica is shutting down and the time to finish is over');
    for (const { controller } of running) controller.abort(reason);
    const cutAt = now();
    while (isBusy() && now() - cutAt < farewellMs) await wait(pollMs);
  }

  async close(): Promise<void> {
    this.reload?.stop();
    this.stalled.stop();
    this.uploads.stop();
    this.refused.stop();
    clearInterval(this.slowBodies);
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
      // closeAllConnections() would leave those whose TLS handshake is under way.
      setTimeout(() => this.sockets.forEach((socket) => socket.destroy()), farewellMs).unref();
    });
    const { access, now } = this.parts;
    const closedAt = now();
    while (access.open.size > 0 && now() - closedAt < settleMs) await wait(pollMs);
  }
}

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
