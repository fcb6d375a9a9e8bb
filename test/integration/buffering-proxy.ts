// A proxy before a server, as a gateway is: passes answers on as they come, or keeps each back until it is whole.

import { once } from 'node:events';
import {
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export class BufferingProxy {
  /** Host headers of requests, in the order of their arrival. */
  readonly asked: string[] = [];
  /** Hosts whose answers are kept back. */
  readonly held = new Set<string>();
  /** Hosts that it does not know. */
  readonly unknown = new Set<string>();
  /** Hosts that lead elsewhere than to the target. */
  readonly targets = new Map<string, string>();

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async start(target: string): Promise<BufferingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new BufferingProxy(server, target);
    server.on('request', (request, response) => void proxy.pass(request, response));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = request.headers.host ?? '';
    this.asked.push(host);
    if (this.unknown.has(host)) {
      response.writeHead(404).end();
      return;
    }
    const { method, headers, url = '/' } = request;
    const onward = send(new URL(url, this.targets.get(host) ?? this.target), { method, headers });
    request.pipe(onward);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
    if (this.held.has(host)) response.end(await buffer(answer));
    else answer.pipe(response);
  }
}
