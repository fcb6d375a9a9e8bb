// A request that asks for nothing in particular, for tests and benches to change where they care.

import type { GenerateRequest } from './generation.js';
import { greedy } from '@llmservice/native';

export { greedy };

export function generateRequest(
  id: string,
  prompt: ArrayLike<number>,
  changes: Partial<GenerateRequest> = {},
): GenerateRequest {
  return {
    id,
    prompt: Int32Array.from(prompt),
    maxTokens: 16,
    pooling: 'none',
    stopTokens: Int32Array.of(),
    sampling: greedy,
    rules: null,
    adapter: null,
    promptLogprobs: false,
    grammar: null,
    boundaries: [],
    cacheSalt: null,
    fairnessKey: '',
    priority: 0,
    maxQueueMs: null,
    ...changes,
  };
}
