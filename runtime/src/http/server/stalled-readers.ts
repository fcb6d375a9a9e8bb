// Cuts off clients that read nothing of their answer. Without this each of them holds its connection, its room in the
// admission and its tokens for as long as it likes.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './connection-limits.js';

/** How far a client had read when it was last checked, and how often it was found there. */
interface Progress {
  readonly takenBytes: number;
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
      this.sockets.set(socket, { takenBytes: 0, looks: 0 });
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.timer = setInterval(() => this.look(), limits.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Counts looks, not time: while this process stalls, no client can get on either. */
  private look(): void {
    for (const [socket, last] of this.sockets) {
      const takenBytes = bytesTaken(socket);
      const isStalled = socket.writableLength > 0 && takenBytes === last.takenBytes;
      const looks = isStalled ? last.looks + 1 : 0;
      this.sockets.set(socket, { takenBytes, looks });
      if (looks * this.limits.lookMs >= this.limits.readerMs) socket.destroy();
    }
  }
}

/** Node's own, of a TCP connection. */
interface Transport {
  /** Of whole writes, and one can be megabytes. */
  readonly bytesWritten: number;
  /** What of them the kernel has not taken yet. */
  readonly writeQueueSize: number;
}

/** Behind TLS the socket's own handle keeps a write until it is done; the one below it sends it bit by bit. */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as {
    readonly _handle?: (Transport & { readonly _parent?: Transport }) | null;
  };
  const transport = handle?._parent ?? handle;
  return transport ? transport.bytesWritten - transport.writeQueueSize : 0;
}
