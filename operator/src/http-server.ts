// The operator's own HTTP: metrics, and probes for the kubelet. Standby replicas are healthy and ready too; a leader that
// cannot do its work is healthy, since a restart would not help, and not ready.

import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Registry } from 'prom-client';

/** @param notReady why, for people; null: it is ready */
export async function serveHttp(
  port: number,
  registry: Registry,
  notReady: () => string | null = () => null,
): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/metrics') {
      registry.metrics().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    } else if (path === '/healthz' || path === '/readyz') {
      const why = path === '/readyz' ? notReady() : null;
      response.writeHead(why === null ? 200 : 503, { 'content-type': 'text/plain' }).end(`${why ?? 'ok'}\n`);
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
