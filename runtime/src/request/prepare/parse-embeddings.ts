// The body of an embeddings request as one typed, complete value, and each of its inputs as what the engine runs.

import type { SentencePooling } from '@llmservice/checkpoint';
import type { GenerateRequest } from '../../engine/protocol.js';
import { ApiError } from '../body/api-error.js';
import { readTexts, type TextSource } from '../fields/prompt.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { validateBody } from '../validate/validate-body.js';
import { placeIn } from './encode-text.js';
import type { ModelTexts } from './model-texts.js';
import { encodePrompt } from './prepare-generation.js';
import { poolingRequest, requireWhole } from './prompt-request.js';

export interface EmbeddingsRequest extends Scheduling {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  /** One embedding each. */
  readonly inputs: readonly TextSource[];
  readonly encoding: 'float' | 'base64';
  /** Null: the model's. */
  readonly pooling: SentencePooling | null;
  /** Values of an embedding; null: all. */
  readonly dimensions: number | null;
}

/** @throws ApiError invalid_request, with every violation */
export function parseEmbeddings(body: unknown): EmbeddingsRequest {
  const fields = validateBody('embeddings', body);
  const { input, encoding_format = 'float', pooling = null, add_special_tokens = true } = fields;
  const { dimensions = null } = fields;
  return {
    model: readModel(fields),
    inputs: readTexts(input, add_special_tokens),
    encoding: encoding_format,
    pooling,
    dimensions,
    ...readScheduling(fields),
  };
}

/** @throws ApiError invalid_request: the model has no embeddings of so many values */
export function requireDimensions(
  { dimensions }: EmbeddingsRequest,
  { embeddingWidth, matryoshka }: ModelTexts,
): void {
  if (dimensions === null) return;
  if (
    matryoshka === null ? dimensions <= embeddingWidth : [...matryoshka, embeddingWidth].includes(dimensions)
  )
    return;
  const possible =
    matryoshka === null
      ? `at most ${String(embeddingWidth)}`
      : `one of ${[...new Set([...matryoshka, embeddingWidth])].join(', ')} (matryoshka_dimensions of config.json)`;
  const message = `dimensions is ${String(dimensions)}, but embeddings of this model have ${possible}`;
  throw ApiError.of('invalid_request', message, { param: 'dimensions' });
}

/** @throws ApiError context_length_exceeded, invalid_request; the signal's reason */
export async function prepareEmbedding(
  request: EmbeddingsRequest,
  input: TextSource,
  id: string,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<GenerateRequest> {
  const prompt = await encodeInput(request.inputs, input, model, signal);
  return poolingRequest(id, prompt, request.pooling ?? model.pooling, request);
}

/** One of a request's inputs, which may fill the context. Errors as of `prepareEmbedding`. */
export async function encodeInput(
  inputs: readonly TextSource[],
  input: TextSource,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<Int32Array> {
  const param = placeIn('input', inputs, input);
  const how = { maxPromptTokens: model.maxModelLen, named: param, signal };
  const prompt = await encodePrompt(input, null, model, param, how);
  requireWhole(prompt, param, model.maxModelLen);
  return prompt;
}
