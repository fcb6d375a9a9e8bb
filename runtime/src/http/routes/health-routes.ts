// Probes, /health, /metrics and /version. Liveness says only that the event loop turns; readiness that requests are served.

import type { RequestHandler } from 'express';
import type { ServerParts } from '../replica/server-parts.js';
import { version } from '../api/version.js';

export function healthRoute({ lifecycle }: ServerParts): RequestHandler {
  return (_request, response) => {
    const body = lifecycle.health();
    response.status(body.state === 'serving' ? 200 : 503).json(body);
  };
}

export const aliveRoute: RequestHandler = (_request, response) => {
  response.json({ alive: true });
};

/** KServe's clients read `ready`, and `live` below. */
export function inferenceReadyRoute({ lifecycle }: ServerParts): RequestHandler {
  return (_request, response) => {
    const body = lifecycle.health();
    const ready = body.state === 'serving';
    response.status(ready ? 200 : 503).json({ ready, ...body });
  };
}

export const inferenceLiveRoute: RequestHandler = (_request, response) => {
  response.json({ live: true });
};

export function metricsRoute({ metrics }: ServerParts): RequestHandler {
  return async (_request, response) => {
    response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };
}

export function versionRoute({ lifecycle }: ServerParts): RequestHandler {
  return (_request, response) => {
    const state = lifecycle.engine?.health().state;
    const engine =
      state?.kind === 'ready'
        ? {
            architecture: state.info.architecture,
            isa: state.info.isa,
            numBlocks: state.info.numBlocks,
            device: state.device,
            collectives: state.info.collectives,
          }
        : null;
    response.json({ version, engine });
  };
}
