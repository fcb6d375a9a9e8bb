// Answers of a server that have not gone out whole, and the connections that wait for none. Node's own word for idle,
// closeIdleConnections(), is of no use here: to it an answer has ended once all of it is given to Node, and it cuts off
// the client that still reads.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Not gone out whole; of pipelined requests those behind the first wait for it. */
  readonly open: Set<ServerResponse>;
  /** How many bytes had come when the last answer had gone out. */
  answeredBytes: number;
}

export class OpenAnswers {
  private readonly connections = new Map<Socket, Connection>();

  constructor(server: Server) {
    server.on('request', ({ socket }, response) => {
      const connection = this.connections.get(socket) ?? this.connect(socket);
      connection.open.add(response);
      // Once the kernel has all of it, or the connection is gone.
      response.once('close', () => {
        connection.open.delete(response);
        connection.answeredBytes = socket.bytesRead;
      });
    });
  }

  /** Of requests that came whole, or are answered already: half a request may never come to its end. */
  get underWay(): number {
    const open = [...this.connections.values()].flatMap((connection) => [...connection.open]);
    return open.filter(isUnderWay).length;
  }

  /** Whether the connection is to get an answer to a request before whatever comes on it now. */
  isOwed(socket: Socket): boolean {
    return [...(this.connections.get(socket)?.open ?? [])].some(isUnderWay);
  }

  /** Closes the connections that were answered and on which nothing has come since. */
  closeIdle(): void {
    for (const [socket, { open, answeredBytes }] of this.connections)
      if (open.size === 0 && socket.bytesRead === answeredBytes) socket.destroy();
  }

  private connect(socket: Socket): Connection {
    const connection: Connection = { open: new Set(), answeredBytes: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => {
      this.connections.delete(socket);
      // Node notifies the answer that is being sent, and none of those that wait behind it: what generates them would continue.
      for (const response of connection.open) if (response.socket === null) response.emit('close');
    });
    return connection;
  }
}

const isUnderWay = ({ req, headersSent }: ServerResponse): boolean => req.complete || headersSent;
