// A pod's server as operator and activator see it: metrics that a test sets, and answers that it gives or holds back.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Certificate } from '../builders/certificates.js';

interface Asked {
  readonly path: string;
  /** By HTTPS: the name that was asked for. */
  readonly servername: string | null;
  readonly body: { readonly id?: number; readonly stream?: boolean };
}

export class FakeReplica {
  /** What /metrics reports; null: it fails. */
  activity: { readonly running: number; readonly counted: number; readonly waiting?: number } | null = {
    running: 0,
    counted: 0,
  };
  /** Every request but those for metrics, in the order of their arrival. */
  readonly asked: Asked[] = [];
  /** How requests are answered; by default with their own body. */
  reply: (response: ServerResponse, asked: Asked) => void = (response, { body }) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

  private constructor(private readonly server: Server) {}

  /** @param certificate by which it speaks HTTPS; null: plain HTTP */
  static async start(certificate: Certificate | null = null): Promise<FakeReplica> {
    const server = certificate === null ? createServer() : createSecureServer(certificate);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const replica = new FakeReplica(server);
    server.on('request', (request, response) => void replica.answer(request, response));
    return replica;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/metrics') {
      response.writeHead(this.activity === null ? 500 : 200).end(this.metrics());
      return;
    }
    const body = request.method === 'POST' ? ((await json(request)) as Asked['body']) : {};
    const { servername = null } = request.socket as { servername?: string };
    const asked = { path: request.url ?? '', servername, body };
    this.asked.push(asked);
    this.reply(response, asked);
  }

  private metrics(): string {
    const { running = 0, counted = 0, waiting = 0 } = this.activity ?? {};
    return [
      `vllm:num_requests_running{model_name="m"} ${String(running)}`,
      `vllm:num_requests_waiting{model_name="m"} ${String(waiting)}`,
      `vllm:prompt_tokens_total{model_name="m"} ${String(counted)}`,
      'vllm:generation_tokens_total{model_name="m"} 0',
      'vllm:request_success_total{model_name="m",finished_reason="stop"} 0',
    ].join('\n');
  }
}
