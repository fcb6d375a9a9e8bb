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
  /** Of the prompt that texts begin with; empty: none; null: the checkpoint's default. */
  readonly promptName: string | null;
}

/** @throws ApiError invalid_request, with every violation */
export function parseEmbeddings(body: unknown): EmbeddingsRequest {
  const fields = validateBody('embeddings', body);
  const { input, encoding_format = 'float', pooling = null, add_special_tokens = true } = fields;
  const { dimensions = null, prompt_name = null } = fields;
  return {
    model: readModel(fields),
    inputs: readTexts(input, add_special_tokens),
    encoding: encoding_format,
    pooling,
    dimensions,
    promptName: prompt_name,
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
  const { maxTokens } = model.sentences;
  const prompt = await encodeInput(request.inputs, input, model, signal, promptOf(request, model));
  if (maxTokens !== null) requireShort(prompt, placeIn('input', request.inputs, input), maxTokens);
  return poolingRequest(id, prompt, request.pooling ?? model.pooling, request);
}

/** @throws ApiError context_length_exceeded: sentence-transformers would cut the text off */
function requireShort(prompt: Int32Array, param: string, most: number): void {
  if (prompt.length <= most) return;
  const message =
    `${param} has ${String(prompt.length)} tokens, but the checkpoint embeds at most ${String(most)} ` +
    '(max_seq_length of sentence_bert_config.json)';
  throw ApiError.of('context_length_exceeded', message, { param });
}

/**
 * What texts begin with.
 * @throws ApiError invalid_request: the checkpoint has no such prompt, or an input is no text
 */
function promptOf({ promptName, inputs }: EmbeddingsRequest, { sentences }: ModelTexts): string {
  const { prompts, defaultPrompt } = sentences;
  const name = promptName ?? defaultPrompt;
  // Whatever the checkpoint's default is, a client can do without.
  if (name === null || name === '') return '';
  const prompt = prompts.get(name);
  if (promptName === null) return prompt ?? '';
  const problem =
    prompt === undefined
      ? `prompt_name is ${JSON.stringify(promptName)}, but the checkpoint has ${listed([...prompts.keys()])}`
      : inputs.some(({ kind }) => kind === 'ids')
        ? 'prompt_name is for texts: put the tokens of the prompt before those of the input'
        : null;
  if (prompt !== undefined && problem === null) return prompt;
  throw ApiError.of('invalid_request', problem ?? '', { param: 'prompt_name' });
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? 'no prompts (config_sentence_transformers.json)' : `the prompts ${names.join(', ')}`;

/**
 * One of a request's inputs, which may fill the context. Errors as of `prepareEmbedding`.
 * @param before what a text begins with
 */
export async function encodeInput(
  inputs: readonly TextSource[],
  input: TextSource,
  model: ModelTexts,
  signal?: AbortSignal,
  before = '',
): Promise<Int32Array> {
  const param = placeIn('input', inputs, input);
  const how = { maxPromptTokens: model.maxModelLen, named: param, signal };
  const whole = input.kind === 'text' ? { ...input, text: before + input.text } : input;
  const prompt = await encodePrompt(whole, null, model, param, how);
  requireWhole(prompt, param, model.maxModelLen);
  return prompt;
}
