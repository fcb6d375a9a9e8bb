// Passes requests on from a Unix socket to a server, byte for byte, and keeps what was asked and answered.

import { once } from 'node:events';
import {
  createServer,
  request as ask,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly request: string;
  readonly reply: string;
}

export class Recorder {
  /** In the order in which they ended. */
  readonly exchanges: Exchange[] = [];
  readonly #server: Server;
  readonly #target: string;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  static async listen(socket: string, target: string): Promise<Recorder> {
    const recorder = new Recorder(target);
    recorder.#server.listen(socket);
    await once(recorder.#server, 'listening');
    return recorder;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '', headers } = incoming;
    const sent: Buffer[] = [];
    const received: Buffer[] = [];
    const outgoing = ask(this.#target + path, { method, headers });
    outgoing.once('error', () => response.destroy());
    outgoing.once('response', (answer) => {
      const status = answer.statusCode ?? 0;
      response.writeHead(status, answer.headers);
      answer.on('data', (part: Buffer) => received.push(part)).pipe(response);
      answer.once('close', () => {
        const text = (parts: readonly Buffer[]): string => Buffer.concat(parts).toString();
        this.exchanges.push({ method, path, status, request: text(sent), reply: text(received) });
      });
    });
    response.once('close', () => outgoing.destroy());
    incoming.on('data', (part: Buffer) => sent.push(part)).pipe(outgoing);
  }
}
