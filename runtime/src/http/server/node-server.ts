// The server of a node that serves no requests: probes as a replica has them, and metrics. Whatever else is asked for is
// refused with who answers it.

import { healthPaths, routes } from '@llmservice/crds';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { HealthBody } from '../replica/lifecycle.js';
import { readTlsFiles } from './tls-files.js';

/** They say that the process responds. */
const livePaths: readonly string[] = [routes.live, routes.startup, '/v2/health/live'];

export class NodeServer {
  private readonly server: Server;

  /**
   * @param tlsDir null: plain HTTP
   * @throws FailureError CertificateInvalid
   */
  constructor(health: () => HealthBody, registry: Registry, tlsDir: string | null) {
    const answer = async (path: string): Promise<readonly [status: number, type: string, body: string]> => {
      if (path === routes.metrics) return [200, registry.contentType, await registry.metrics()];
      if (livePaths.includes(path)) return [200, 'application/json', '{"alive":true}'];
      if (!healthPaths.includes(path)) return [404, 'application/json', JSON.stringify(notHere)];
      const body = health();
      return [body.state === 'serving' ? 200 : 503, 'application/json', JSON.stringify(body)];
    };
    const listener: RequestListener = (request, response) => {
      const path = (request.url ?? '').replace(/\?.*$/, '');
      answer(path).then(
        ([status, type, body]) => response.writeHead(status, { 'content-type': type }).end(body),
        () => response.writeHead(500).end(),
      );
    };
    this.server =
      tlsDir === null ? createServer(listener) : createTlsServer({ ...readTlsFiles(tlsDir) }, listener);
  }

  /** Resolves with the port that it listens on. @param host null: every address */
  async listen(host: string | null, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host ?? undefined, () => resolve());
    });
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }
}

const notHere = {
  error: {
    message: 'this node has ranks of an engine that another serves: ask the first node of its group',
    type: 'invalid_request_error',
    code: 'route_not_found',
  },
};
