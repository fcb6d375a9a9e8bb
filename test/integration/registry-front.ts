// What may stand in front of a registry: storage on another host to which blobs are redirected, and which fails now and then.

import { once } from 'node:events';
import {
  createServer,
  request as ask,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export class RegistryFront {
  /** Blobs that the front was asked for. */
  asked = 0;
  /** Headers with which storage was asked. */
  readonly stored: IncomingMessage['headers'][] = [];
  /** What storage answers in place of a blob, once each. */
  readonly failures: number[] = [];
  /** Where blobs are said to be; null: in storage. */
  elsewhere: string | null = null;
  /** Storage ends so many of its next answers after half of their bytes. */
  cuts = 0;

  private constructor(
    private readonly registry: string,
    /** Of storage, at the registry. */
    private readonly authorization: string,
    private readonly front: Server,
    private readonly storage: Server,
  ) {}

  static async start(
    registry: string,
    login: { readonly username: string; readonly password: string },
  ): Promise<RegistryFront> {
    const basic = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    const front = createServer((request, response) => server.lead(request, response));
    const storage = createServer((request, response) => server.store(request, response));
    const server = new RegistryFront(registry, `Basic ${basic}`, front, storage);
    for (const each of [front, storage]) await once(each.listen(0, '127.0.0.1'), 'listening');
    return server;
  }

  get host(): string {
    return `127.0.0.1:${String((this.front.address() as AddressInfo).port)}`;
  }

  stop(): void {
    for (const server of [this.front, this.storage]) {
      server.closeAllConnections();
      server.close();
    }
  }

  private lead(request: IncomingMessage, response: ServerResponse): void {
    if (!request.url?.includes('/blobs/')) {
      this.pass(request, response, {}, false);
      return;
    }
    this.asked += 1;
    const { port } = this.storage.address() as AddressInfo;
    const location = this.elsewhere ?? `http://localhost:${String(port)}${request.url}?signature=1`;
    response.writeHead(307, { location }).end();
  }

  private store(request: IncomingMessage, response: ServerResponse): void {
    this.stored.push(request.headers);
    const failure = this.failures.shift();
    if (failure !== undefined) return void response.writeHead(failure).end('<Error/>');
    const isCut = this.cuts > 0;
    if (isCut) this.cuts -= 1;
    this.pass(request, response, { authorization: this.authorization }, isCut);
  }

  private pass(
    request: IncomingMessage,
    response: ServerResponse,
    added: Record<string, string>,
    isCut: boolean,
  ): void {
    const url = new URL(request.url ?? '/', `http://${this.registry}`);
    const { host } = url;
    ask(
      url,
      { method: request.method ?? 'GET', headers: { ...request.headers, host, ...added } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        if (!isCut) return void answer.pipe(response);
        const half = Number(answer.headers['content-length']) / 2;
        let sent = 0;
        answer.on('data', (chunk: Buffer) => {
          if (sent > half) return;
          sent += chunk.length;
          response.write(chunk, () => sent > half && response.destroy());
        });
      },
    ).end();
  }
}
