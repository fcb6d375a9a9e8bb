// Probes, /health, /load, /metrics and /version. Liveness says only that the event loop turns; readiness that requests are served.

import type { Request, RequestHandler } from 'express';
import { isTrusted } from '../access/access.js';
import type { HealthBody } from '../replica/lifecycle.js';
import type { ServerParts } from '../replica/server-parts.js';
import { version } from '../api/version.js';

export function healthRoute(parts: ServerParts): RequestHandler {
  return (request, response) => {
    const body = healthFor(parts, request);
    response.status(body.state === 'serving' ? 200 : 503).json(body);
  };
}

/**
 * What a request may know. Without a key, where there are keys, it is what probes and the operator need: the state, how
 * far the load is, and which places of the list of adapters are loaded. The texts of failures name paths and buckets, and
 * the engine its device.
 */
function healthFor({ lifecycle, access }: ServerParts, request: Request): PublicHealth {
  const body = lifecycle.health();
  if (isTrusted(access, request)) return body;
  const { state, load, adapters } = body;
  return { state, load, ...(adapters === undefined ? {} : { adapters }) };
}

type PublicHealth = Pick<HealthBody, 'state' | 'load'> & Partial<HealthBody>;

export const aliveRoute: RequestHandler = (_request, response) => {
  response.json({ alive: true });
};

/** KServe's clients read `ready`, and `live` below. */
export function inferenceReadyRoute(parts: ServerParts): RequestHandler {
  return (request, response) => {
    const body = healthFor(parts, request);
    const ready = body.state === 'serving';
    response.status(ready ? 200 : 503).json({ ready, ...body });
  };
}

export const inferenceLiveRoute: RequestHandler = (_request, response) => {
  response.json({ live: true });
};

/** As vLLM has it: those that wait are among them. */
export function loadRoute({ running }: ServerParts): RequestHandler {
  return (_request, response) => {
    response.json({ server_load: running.size });
  };
}

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
            selfCheckMs: state.info.selfCheckMs,
          }
        : null;
    response.json({ version, engine });
  };
}
