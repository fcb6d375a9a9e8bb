// Questions that a sound engine answers whatever it serves: one token each, from different places of the vocabulary, so
// that a few bad embeddings do not condemn a model that works for everybody else. Asked before an engine is ready, so
// that a checkpoint of broken weights never is, and again when requests give reason to.

import { greedy } from '../schedule/greedy.js';
import type { GenerateRequest } from './protocol.js';

const idPrefix = 'self-check-';

export const isSelfCheck = (id: string): boolean => id.startsWith(idPrefix);

export function selfCheckRequests(vocabSize: number): GenerateRequest[] {
  return [1, 2, 3].map((quarter) => ({
    id: idPrefix + String(quarter),
    prompt: Int32Array.of(Math.floor((quarter * vocabSize) / 4)),
    maxTokens: 1,
    pooling: 'none',
    grammar: null,
    stopTokens: new Int32Array(),
    sampling: greedy,
    boundaries: [],
    cacheSalt: null,
    fairnessKey: '',
    priority: -8,
    maxQueueMs: null,
  }));
}
