// The checkpoint of the model that is configured, or of another that an administrator loads, as the configuration says that
// it is to be had.

import type { ResolvedConfig } from './config/resolve-config.js';
import { storeSettingsOf } from './store-settings.js';
import type { WeightsCache } from './weights/cache/weights-cache.js';
import { headOf } from './weights/inspect-head.js';
import {
  obtainCheckpoint,
  type ObtainedCheckpoint,
  type ObtainOptions,
} from './weights/obtain-checkpoint.js';

interface Obtaining extends Pick<ObtainOptions, 'uri' | 'observer' | 'sleep' | 'signal'> {
  readonly cache: WeightsCache | null;
}

/** @throws as `obtainCheckpoint` */
export function obtainModel(config: ResolvedConfig, obtaining: Obtaining): Promise<ObtainedCheckpoint> {
  const { engineConfig, server } = config;
  const { cache, uri } = engineConfig.model;
  return obtainCheckpoint({
    ...obtaining,
    head: headOf(engineConfig.engine.speculative),
    // Administrators may load another model than the one that was planned.
    pins: {
      model: obtaining.uri === uri ? (cache?.pins.model ?? null) : null,
      head: cache?.pins.head ?? null,
    },
    weightsDir: server.weightsDir,
    stores: storeSettingsOf(config),
    allowedUris: server.adminAllowedUris,
  });
}
