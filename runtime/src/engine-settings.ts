// What an engine process is started with, from the configuration and a checkpoint on disk.

import { specDefaults } from '@llmservice/crds';
import { hostname } from 'node:os';
import { adapterRoomOf } from './config/adapter-settings.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import type { DisaggregationSettings } from './config/disaggregation-settings.js';
import type { EngineDisaggregation, EngineSettings, NodeSettings } from './engine/protocol.js';
import { version } from './http/api/version.js';
import type { ObtainedCheckpoint } from './weights/obtain-checkpoint.js';

/** @param uri of the checkpoint */
export function engineSettingsOf(
  config: ResolvedConfig,
  uri: string,
  { dir, headDir, descriptors }: ObtainedCheckpoint,
): EngineSettings {
  const { engine, accelerator, parallelism } = config.engineConfig;
  const { method, tokens } = engine.speculative;
  return {
    ...engine,
    selfCheck: engine.selfCheck ?? specDefaults.engine.selfCheck,
    speculative: { method, tokens, ...(headDir === null ? {} : { headDir }) },
    modelDir: dir,
    openFiles: descriptors,
    accelerator: accelerator.kind,
    tensor: parallelism.tensor,
    pipeline: parallelism.pipeline ?? 1,
    nodes: nodeOf(config, uri),
    memoryBytesPerDevice: accelerator.memoryBytesPerDevice,
    threads: config.server.threads,
    adapterRoom: adapterRoomOf(config.server),
    disaggregation: disaggregationOf(config.server),
  };
}

function disaggregationOf({
  disaggregationRole: role,
  ...server
}: DisaggregationSettings): EngineDisaggregation | null {
  const { prefillHost: hosts, prefillPort: port, prefillMinTokens: minTokens } = server;
  switch (role) {
    case 'none':
      return null;
    case 'prefill':
      return { role, transferPort: server.kvTransferPort };
    case 'decode':
      return { role, hosts, port, minTokens };
  }
}

function nodeOf({ engineConfig, server }: ResolvedConfig, uri: string): NodeSettings | null {
  if (server.leaderAddress === null || server.groupSize === 1) return null;
  const { name, cache } = engineConfig.model;
  return {
    index: server.workerIndex,
    count: server.groupSize,
    leader: server.leaderAddress,
    port: server.rankPort,
    name: hostname(),
    waitMs: engineConfig.noProgressTimeoutSeconds * 1000,
    identity: { version, model: name, uri, revision: cache?.pins.model ?? null },
  };
}
