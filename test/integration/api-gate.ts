// Stands between an operator and its API server, and does to its requests what outages do.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';

export type Trouble =
  | { readonly kind: 'none' }
  /** Every request, or every watch, is answered so, and watches that are open end. */
  | { readonly kind: 'status'; readonly code: number; readonly of: 'requests' | 'watches' }
  /** Open watches send nothing more, and are not closed. */
  | { readonly kind: 'silence' };

export class ApiGate {
  /** How many requests met the trouble of now. */
  met = 0;
  /** Collections that were listed since then although they had been watched before. */
  readonly relisted: string[] = [];
  private readonly watched = new Set<string>();
  private trouble: Trouble = { kind: 'none' };
  private readonly watches = new Set<ServerResponse>();
  private readonly agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  private constructor(
    private readonly server: Server,
    private readonly target: KubeConfig,
  ) {}

  /** @param target whom it passes requests on to, and as whom */
  static async start(target: KubeConfig): Promise<ApiGate> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const gate = new ApiGate(server, target);
    server.on('request', (asked, answer) => gate.pass(asked, answer));
    return gate;
  }

  kubeConfig(): KubeConfig {
    const config = new KubeConfig();
    const { port } = this.server.address() as AddressInfo;
    config.loadFromClusterAndUser(
      { name: 'gate', server: `http://127.0.0.1:${String(port)}`, skipTLSVerify: true },
      this.target.getCurrentUser() ?? { name: 'nobody' },
    );
    return config;
  }

  set(trouble: Trouble): void {
    this.trouble = trouble;
    this.met = 0;
    this.relisted.length = 0;
    if (trouble.kind === 'status') for (const watch of this.watches) watch.destroy();
    if (trouble.kind === 'silence') this.met = this.watches.size;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
    this.agent.destroy();
  }

  private pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { trouble } = this;
    const watches = /[?&]watch=true/.test(asked.url ?? '');
    if (trouble.kind === 'status' && (watches || trouble.of === 'requests')) {
      this.met += 1;
      refuse(answer, trouble.code);
      return;
    }
    const onward = request(`${this.target.getCurrentCluster()?.server ?? ''}${asked.url ?? ''}`, {
      agent: this.agent,
      method: asked.method,
      headers: asked.headers,
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    onward.on('response', (answered) => {
      const collection = collectionOf(asked.url ?? '');
      if (answered.statusCode === 200 && /[?&]limit=/.test(asked.url ?? '') && this.watched.has(collection))
        this.relisted.push(collection);
      if (watches) this.watched.add(collection);
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      if (!watches) return void answered.pipe(answer);
      answer.flushHeaders();
      this.watches.add(answer);
      answer.on('close', () => this.watches.delete(answer));
      // Those that were open when silence began stay silent.
      let silenced = false;
      answered.on('data', (chunk: Buffer) => {
        silenced ||= this.trouble.kind === 'silence';
        if (!silenced) answer.write(chunk);
      });
      answered.on('end', () => answer.end());
    });
    asked.pipe(onward);
  }
}

function refuse(answer: ServerResponse, code: number): void {
  const reasons: Record<number, string> = {
    ...{ 401: 'Unauthorized', 410: 'Expired', 429: 'TooManyRequests' },
    ...{ 500: 'InternalError', 503: 'ServiceUnavailable' },
  };
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: reasons[code], code };
  answer.writeHead(code, { 'content-type': 'application/json', 'retry-after': '1' });
  answer.end(JSON.stringify({ ...status, message: `answered ${String(code)} by a test` }));
}

/** Of one path there may be several: those of one label, and a look at all. */
function collectionOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gate');
  return `${pathname} ${searchParams.get('labelSelector') ?? ''}`;
}
