// Probes, /health, /metrics and /version. Liveness says only that the event loop turns; readiness that requests are served.

import { routes } from '@llmservice/crds';
import { Router, type RequestHandler } from 'express';
import type { ServerParts } from './server-parts.js';
import { version } from './version.js';

export function healthRoutes({ lifecycle, metrics }: ServerParts): Router {
  const router = Router();
  const health: RequestHandler = (_request, response) => {
    const body = lifecycle.health();
    response.status(body.state === 'serving' ? 200 : 503).json(body);
  };
  const alive: RequestHandler = (_request, response) => {
    response.json({ alive: true });
  };
  router.get([routes.health, routes.ready], health);
  router.get([routes.live, routes.startup], alive);
  router.get(routes.metrics, async (_request, response) => {
    response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  router.get('/version', (_request, response) => {
    const info = lifecycle.engine?.health().state;
    const engine =
      info?.kind === 'ready' ? { architecture: info.info.architecture, isa: info.info.isa } : null;
    response.json({ version, engine });
  });
  return router;
}
