// A prompt that is all there is: no answer follows, and what is wanted is what the model makes of its last tokens.

import { greedy } from '@llmservice/native';
import type { GenerateRequest } from '../../engine/protocol.js';
import { plainAnswer } from '../../schedule/generation.js';
import { ApiError } from '../body/api-error.js';
import type { Scheduling } from '../fields/scheduling.js';
import type { Classifier } from './classifier.js';

/** @throws ApiError context_length_exceeded, invalid_request, about the field `param` */
export function requireWhole(prompt: Int32Array, param: string, maxModelLen: number): void {
  if (prompt.length === 0) throw ApiError.of('invalid_request', `${param} has no tokens`, { param });
  if (prompt.length <= maxModelLen) return;
  const message = `${param} has ${String(prompt.length)} tokens, but the context is ${String(maxModelLen)} tokens`;
  throw ApiError.of('context_length_exceeded', message, { param });
}

/** Of the hidden states. */
export function poolingRequest(
  id: string,
  prompt: Int32Array,
  pooling: GenerateRequest['pooling'],
  { cacheSalt, fairnessKey, priority, maxQueueMs }: Scheduling,
): GenerateRequest {
  return {
    id,
    prompt,
    maxTokens: 0,
    pooling,
    ...plainAnswer,
    cacheSalt,
    fairnessKey,
    priority: priority ?? 0,
    maxQueueMs,
  };
}

/** Of the classifier's logits: its head's, or those of a first token, which nobody gets. */
export function classifierRequest(
  id: string,
  prompt: Int32Array,
  classifier: Classifier,
  maxModelLen: number,
  scheduling: Scheduling,
): GenerateRequest {
  if (classifier.kind === 'head') return poolingRequest(id, prompt, classifier.pooling, scheduling);
  const none = new Int32Array();
  return {
    ...poolingRequest(id, prompt, 'none', scheduling),
    // Behind a full context the engine gives a token too, which is none of the sequence.
    maxTokens: Math.min(1, maxModelLen - prompt.length),
    sampling: { ...greedy, topLogprobs: 0 },
    rules: {
      biased: none,
      biases: new Float32Array(),
      allowed: none,
      banned: none,
      bannedEnds: none,
      minTokens: 0,
      reported: Int32Array.from(classifier.tokens),
      reasoning: null,
    },
  };
}
