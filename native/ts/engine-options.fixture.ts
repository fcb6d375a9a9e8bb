// How an engine computes where a test does not care: on one rank and one thread, with nothing quantized and no drafts.

import type { EngineOptions } from './binding.js';

export const plainOptions = {
  dtype: 'auto',
  kvCacheDtype: 'auto',
  quantization: 'none',
  speculative: { method: 'none', tokens: 0 },
  memory: null,
  threads: 1,
  device: 'cpu',
  collectives: 'auto',
  selfCheck: true,
  maxAdapterRank: 256,
  transfer: null,
  isa: 'auto',
  logitHashes: false,
  place: null,
} as const satisfies Partial<EngineOptions>;
