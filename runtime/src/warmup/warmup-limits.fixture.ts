// Limits of an engine with room for all that tests ask for.

import type { WarmupLimits } from './warmup-shapes.js';

export const roomy: WarmupLimits = {
  maxModelLen: 131_072,
  maxNumSeqs: 64,
  maxNumBatchedTokens: 2048,
  numBlocks: 4096,
  blockSize: 64,
  hybrid: false,
  speculative: { method: 'none', tokens: 3 },
};
