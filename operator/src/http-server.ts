// The operator's own HTTP: metrics, and probes for the kubelet. Standby replicas are healthy and ready too.

import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Registry } from 'prom-client';

export async function serveHttp(port: number, registry: Registry): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/metrics') {
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    } else if (path === '/healthz' || path === '/readyz') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    } else {
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end('not found: /metrics, /healthz, /readyz\n');
    }
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}
