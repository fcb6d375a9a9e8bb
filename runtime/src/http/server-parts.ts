// What the routes share: one of each per process, made in main.

import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import type { Logger } from '../log/logger.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import { ApiError } from '../request/api-error.js';
import type { Admission } from './admission.js';
import type { Lifecycle } from './lifecycle.js';
import type { ModelNames } from './served-model.js';

export interface ServerParts {
  readonly lifecycle: Lifecycle;
  readonly names: ModelNames;
  readonly admission: Admission;
  readonly metrics: ServerMetrics;
  readonly logger: Logger;
  /** One per request that is generating; aborted with an ApiError when the drain's time is over. */
  readonly running: Set<AbortController>;
  readonly maxBodyBytes: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

/**
 * Runs the generating part of a request: admitted, listed for the drain, aborted when the client goes away.
 * @throws ApiError queue_full
 */
export async function whileAdmitted(
  parts: ServerParts,
  response: Response,
  generations: number,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const leave = parts.admission.enter(generations);
  const controller = new AbortController();
  const gone = (): void => controller.abort(ApiError.of('request_aborted', 'the client went away'));
  parts.running.add(controller);
  response.once('close', gone);
  try {
    await run(controller.signal);
  } finally {
    response.off('close', gone);
    // Whatever of a request with several generations still runs, runs for nobody.
    controller.abort();
    parts.running.delete(controller);
    leave();
  }
}

export function newId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex');
}

export function randomSeed(): bigint {
  return randomBytes(8).readBigUInt64LE();
}

/** The route as it is written, for logs: a path without names in it. */
export function routeOf(request: Request): string {
  const { path } = request.route as { readonly path: string };
  return path.replaceAll('\\', '');
}
