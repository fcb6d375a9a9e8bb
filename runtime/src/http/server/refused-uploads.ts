// Bodies that still come although their request is answered. A client that sends does not read: to close at once would cost
// it the answer, and to wait for the end would keep the connection for as long as it sends. So the rest is read and forgotten
// for a while, and then the connection is closed. Of nginx: lingering_close.

import type { IncomingMessage, Server } from 'node:http';
import type { ConnectionLimits } from './connection-limits.js';

interface Upload {
  readonly startBytes: number;
  lastBytes: number;
  looks: number;
  silentLooks: number;
}

/** In the shortest of the limits. */
const looksInSilence = 5;

export class RefusedUploads {
  readonly #uploads = new Map<IncomingMessage, Upload>();
  readonly #maxBytes: number;
  readonly #limits: ConnectionLimits;
  readonly #timer: NodeJS.Timeout;
  readonly #lookMs: number;

  /** @param maxBytes as much as a body may have: who sends that to its end keeps the connection */
  constructor(server: Server, maxBytes: number, limits: ConnectionLimits) {
    this.#maxBytes = maxBytes;
    this.#limits = limits;
    server.on('request', (request, response) => {
      response.once('finish', () => {
        if (!request.complete) this.#watch(request);
      });
    });
    this.#lookMs = limits.silenceMs / looksInSilence;
    this.#timer = setInterval(() => this.#look(), this.#lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #watch(request: IncomingMessage): void {
    const { bytesRead } = request.socket;
    this.#uploads.set(request, { startBytes: bytesRead, lastBytes: bytesRead, looks: 0, silentLooks: 0 });
  }

  /** Counts looks, not time: while this process stalls, nothing can come. */
  #look(): void {
    for (const [request, upload] of this.#uploads) {
      const { complete, socket } = request;
      if (complete || socket.destroyed) {
        this.#uploads.delete(request);
        continue;
      }
      upload.looks += 1;
      upload.silentLooks = socket.bytesRead === upload.lastBytes ? upload.silentLooks + 1 : 0;
      upload.lastBytes = socket.bytesRead;
      if (this.#isOver(upload)) socket.destroy();
    }
  }

  #isOver({ startBytes, lastBytes, looks, silentLooks }: Upload): boolean {
    const { lingerMs, silenceMs } = this.#limits;
    return (
      lastBytes - startBytes > this.#maxBytes ||
      looks * this.#lookMs >= lingerMs ||
      silentLooks * this.#lookMs >= silenceMs
    );
  }
}
