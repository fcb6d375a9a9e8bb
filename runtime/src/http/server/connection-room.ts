// Bounds the connections of a server. At the bound a new one takes the place of the one that has been idle longest, or of
// one whose body hardly comes; where all of them are at work it may ask for the health routes only, so that probes are
// answered whatever is held open. There is no bound by address: behind a gateway all clients have the same.

import { healthPaths } from '@llmservice/crds';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../request/body/api-error.js';
import type { RefusedHow } from './refused-connections.js';

/** Connections beyond the bound, for probes and for what is refused. */
const spare = 64;

interface Connection {
  readonly socket: Socket;
  /** Requests that are not answered whole. */
  open: number;
  readonly isSurplus: boolean;
}

export class ConnectionRoom {
  /** By the client's address and port, which a TLS socket shares with the one below it. Longest idle first. */
  readonly #connections = new Map<string, Connection>();
  readonly #most: number;
  readonly #cutSlowBody: () => boolean;
  readonly #refused: (how: RefusedHow) => void;

  /** @param cutSlowBody ends a request whose body hardly comes; false: there is none */
  constructor(most: number, cutSlowBody: () => boolean, refused: (how: RefusedHow) => void) {
    this.#most = most;
    this.#cutSlowBody = cutSlowBody;
    this.#refused = refused;
  }

  watch(server: Server): void {
    server.maxConnections = this.#most + spare;
    server.on('drop', () => this.#refused('dropped'));
    server.prependListener('connection', (socket: Socket) => this.#connect(socket));
    server.prependListener('request', (request, response) => {
      const name = nameOf(request.socket);
      const connection = this.#connections.get(name);
      if (connection === undefined) return;
      connection.open += 1;
      response.once('close', () => {
        connection.open -= 1;
        // The last to become idle is the last in the map.
        if (this.#connections.delete(name)) this.#connections.set(name, connection);
      });
    });
  }

  /** Answers requests of surplus connections itself. */
  guard(listener: RequestListener): RequestListener {
    return (request, response) => {
      if (!this.#isSurplus(request) || healthPaths.some((path) => path === request.url)) {
        listener(request, response);
        return;
      }
      this.#refused('busy');
      const message = `all of the server's ${String(this.#most)} connections are in use: send the request again`;
      const { status, body } = ApiError.of('server_busy', message);
      response.setHeader('connection', 'close').setHeader('retry-after', '1');
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify(body));
    };
  }

  #isSurplus({ socket }: IncomingMessage): boolean {
    return this.#connections.get(nameOf(socket))?.isSurplus ?? false;
  }

  #connect(socket: Socket): void {
    const name = nameOf(socket);
    const isSurplus = this.#connections.size >= this.#most && !this.#closeIdle() && !this.#cutSlowBody();
    const connection = { socket, open: 0, isSurplus };
    this.#connections.set(name, connection);
    socket.once('close', () => {
      if (this.#connections.get(name) === connection) this.#connections.delete(name);
    });
  }

  #closeIdle(): boolean {
    for (const [name, { socket, open }] of this.#connections) {
      if (open > 0) continue;
      this.#connections.delete(name);
      socket.destroy();
      return true;
    }
    return false;
  }
}

function nameOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress ?? ''} ${String(remotePort)} ${String(localPort)}`;
}
