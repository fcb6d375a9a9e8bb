import type { PrefillAnswer, PrefillAsk } from './prefill-ask.js';

export const ask: PrefillAsk = {
  layout: 'the same',
  prompt: Int32Array.of(1, 299, 7),
  from: 2,
  cacheSalt: null,
  boundaries: [1, 3],
  fairnessKey: 'key',
  priority: -2,
  maxQueueMs: 5_000,
};

export const answer: PrefillAnswer = {
  ...{ ticket: 'prefill-1', port: 8040, blocks: 3, snapshot: false, tokens: 80, cachedTokens: 16 },
};
