// Settings of an engine process for tests: room for short requests, one rank, one thread, and no drafts.

import type { EngineSettings } from '../../runtime/src/engine/protocol.js';

export function engineSettings(modelDir: string, changes: Partial<EngineSettings> = {}): EngineSettings {
  return {
    modelDir,
    openFiles: [],
    maxModelLen: 512,
    memoryUtilizationPercent: 80,
    accelerator: 'cpu',
    tensor: 1,
    pipeline: 1,
    nodes: null,
    memoryBytesPerDevice: 4 * 1024 ** 3,
    maxNumSeqs: 16,
    maxNumBatchedTokens: 256,
    blockSize: 16,
    prefixCaching: true,
    dtype: 'auto',
    exactness: 'auto',
    kvCacheDtype: 'auto',
    quantization: 'none',
    speculative: { method: 'none', tokens: 3 },
    collectives: 'auto',
    selfCheck: true,
    warmup: { preset: 'none', shapes: [], timeLimitSeconds: 60 },
    threads: 1,
    adapterRoom: { max: 0, maxRank: 0 },
    disaggregation: null,
    ...changes,
  };
}
