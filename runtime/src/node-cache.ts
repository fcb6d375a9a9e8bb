// The cache of weights that a process shares with others of its node, where the engine config says that there is one.

import type { Registry } from 'prom-client';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { Logger } from './log/logger.js';
import { WeightsCacheMetrics } from './metrics/weights-cache-metrics.js';
import { WeightsCache } from './weights/cache/weights-cache.js';

/** Null: what is pulled is this process's alone. */
export function makeWeightsCache(
  { engineConfig, server }: ResolvedConfig,
  registry: Registry,
  logger: Logger,
): WeightsCache | null {
  const { cache, name } = engineConfig.model;
  if (cache === undefined) return null;
  const { volume, maxBytes, verify } = cache;
  const observer = new WeightsCacheMetrics(registry, name, logger);
  return new WeightsCache({ root: server.weightsDir, volume, maxBytes, verify, observer });
}
