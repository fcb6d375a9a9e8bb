// Cuts off clients that read nothing of their answer. Without this each of them holds its connection, its room in the
// admission and its tokens for as long as it likes.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';

/** How far a client had read when it was last looked at, and how often it was found there. */
interface Progress {
  readonly takenBytes: number;
  readonly queuedBytes: number;
  readonly looks: number;
}

export class StalledReaders {
  private readonly sockets = new Map<Socket, Progress>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    server: Server,
    private readonly limits: ConnectionLimits,
  ) {
    server.on('request', ({ socket }) => {
      if (this.sockets.has(socket)) return;
      this.sockets.set(socket, { takenBytes: 0, queuedBytes: 0, looks: 0 });
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.timer = setInterval(() => this.look(), limits.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Counts looks, not time: while this process stands still, no client can get on either. */
  private look(): void {
    for (const [socket, last] of this.sockets) {
      const takenBytes = socket.bytesWritten - socket.writableLength;
      const queuedBytes = bytesQueued(socket);
      const isStalled =
        socket.writableLength > 0 && takenBytes === last.takenBytes && queuedBytes >= last.queuedBytes;
      const looks = isStalled ? last.looks + 1 : 0;
      this.sockets.set(socket, { takenBytes, queuedBytes, looks });
      if (looks * this.limits.lookMs >= this.limits.readerMs) socket.destroy();
    }
  }
}

/** Of the write under way, what the kernel has not taken yet: Node counts a write as a whole, and one can be megabytes. */
function bytesQueued(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
