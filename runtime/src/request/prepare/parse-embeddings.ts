// The body of an embeddings request as one typed, complete value, and each of its inputs as what the engine runs.

import type { GenerateRequest } from '../../engine/protocol.js';
import { greedy } from '@llmservice/native';
import { ApiError } from '../body/api-error.js';
import { placeIn } from './encode-text.js';
import { readTexts, type TextSource } from '../parse/parse-request.js';
import { encodePrompt, type ModelTexts } from './prepare-generation.js';
import { validateBody } from '../body/validate-body.js';

export interface EmbeddingsRequest {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  /** One embedding each. */
  readonly inputs: readonly TextSource[];
  readonly encoding: 'float' | 'base64';
  readonly pooling: 'last' | 'mean';
  readonly cacheSalt: string | null;
  readonly fairnessKey: string;
  /** Null: it did not say. */
  readonly priority: number | null;
  readonly maxQueueMs: number | null;
}

/** @throws ApiError invalid_request, with every violation */
export function parseEmbeddings(body: unknown): EmbeddingsRequest {
  const fields = validateBody('embeddings', body);
  const maxQueueSeconds = fields['max_queue_seconds'] as number | undefined;
  return {
    model: (fields['model'] as string | undefined) ?? null,
    inputs: readTexts(fields['input'], fields['add_special_tokens'] !== false),
    encoding: (fields['encoding_format'] as EmbeddingsRequest['encoding'] | undefined) ?? 'float',
    pooling: (fields['pooling'] as EmbeddingsRequest['pooling'] | undefined) ?? 'last',
    cacheSalt: (fields['cache_salt'] as string | undefined) ?? null,
    fairnessKey: (fields['user'] as string | undefined) ?? '',
    priority: (fields['priority'] as number | undefined) ?? null,
    maxQueueMs: maxQueueSeconds === undefined ? null : maxQueueSeconds * 1000,
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
