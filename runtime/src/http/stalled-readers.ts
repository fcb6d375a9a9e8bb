// Cuts off clients that read nothing of their answer. Without this each of them holds its connection, its room in the
// admission and its tokens for as long as it likes.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';

/** How far a client had read when that was last seen to change. */
interface Progress {
  readonly takenBytes: number;
  readonly sinceMs: number;
}

export class StalledReaders {
  private readonly sockets = new Map<Socket, Progress>();
  private readonly timer: NodeJS.Timeout;

  /** @param now monotonic, in milliseconds */
  constructor(
    server: Server,
    private readonly limits: ConnectionLimits,
    private readonly now: () => number,
  ) {
    server.on('request', ({ socket }) => {
      if (this.sockets.has(socket)) return;
      this.sockets.set(socket, { takenBytes: 0, sinceMs: now() });
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.timer = setInterval(() => this.look(), limits.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const at = this.now();
    for (const [socket, { takenBytes, sinceMs }] of this.sockets) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== takenBytes)
        this.sockets.set(socket, { takenBytes: taken, sinceMs: at });
      else if (at - sinceMs >= this.limits.readerMs) socket.destroy();
    }
  }
}
