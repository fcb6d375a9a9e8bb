// The body of an embeddings request as one typed, complete value, and each of its inputs as what the engine runs.

import type { GenerateRequest } from '../../engine/protocol.js';
import { greedy } from '@llmservice/native';
import { ApiError } from '../body/api-error.js';
import { readTexts, type TextSource } from '../fields/prompt.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { validateBody } from '../validate/validate-body.js';
import { placeIn } from './encode-text.js';
import type { ModelTexts } from './model-texts.js';
import { encodePrompt } from './prepare-generation.js';

export interface EmbeddingsRequest extends Scheduling {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  /** One embedding each. */
  readonly inputs: readonly TextSource[];
  readonly encoding: 'float' | 'base64';
  readonly pooling: 'last' | 'mean';
}

/** @throws ApiError invalid_request, with every violation */
export function parseEmbeddings(body: unknown): EmbeddingsRequest {
  const fields = validateBody('embeddings', body);
  const { input, encoding_format = 'float', pooling = 'last', add_special_tokens = true } = fields;
  return {
    model: readModel(fields),
    inputs: readTexts(input, add_special_tokens),
    encoding: encoding_format,
    pooling,
    ...readScheduling(fields),
  };
}

/** @throws ApiError context_length_exceeded, invalid_request; the signal's reason */
export async function prepareEmbedding(
  request: EmbeddingsRequest,
  input: TextSource,
  id: string,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<GenerateRequest> {
  const param = placeIn('input', request.inputs, input);
  const how = { maxPromptTokens: model.maxModelLen, named: param, signal };
  const prompt = await encodePrompt(input, null, model, param, how);
  if (prompt.length === 0) throw ApiError.of('invalid_request', `${param} has no tokens`, { param });
  if (prompt.length > model.maxModelLen) {
    const message = `${param} has ${String(prompt.length)} tokens, but the context is ${String(model.maxModelLen)} tokens`;
    throw ApiError.of('context_length_exceeded', message, { param });
  }
  const { pooling, cacheSalt, fairnessKey, priority, maxQueueMs } = request;
  return {
    id,
    prompt,
    maxTokens: 0,
    pooling,
    grammar: null,
    stopTokens: new Int32Array(),
    sampling: greedy,
    rules: null,
    promptLogprobs: false,
    boundaries: [],
    cacheSalt,
    fairnessKey,
    priority: priority ?? 0,
    maxQueueMs,
  };
}
