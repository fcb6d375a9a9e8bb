// Bodies of the Open Inference Protocol's inference as the requests that :predict makes, one for each text. Pure.

import { ApiError } from '../body/api-error.js';
import { invalidRequest, violationAt } from '../body/violation.js';
import type { GenerationDefaults } from '../fields/generation-defaults.js';
import type { OutputName } from '../fields/infer-fields.js';
import { validateBody } from '../validate/validate-body.js';
import { parseRequest, type ApiRequest } from './parse-request.js';

export interface InferRequest {
  /** What the client calls it; null: nothing. */
  readonly id: string | null;
  /** Of the tensor of texts, and so of that of the answers. */
  readonly shape: readonly number[];
  readonly texts: readonly { readonly parsed: ApiRequest; readonly place: string }[];
  /** Tensors that are asked for; null: those that there are. */
  readonly outputs: readonly AskedOutput[] | null;
  /** Of outputs that do not say: whether their texts are written behind the JSON. */
  readonly isBinary: boolean;
}

export interface AskedOutput {
  readonly name: OutputName;
  readonly isBinary: boolean;
}

/**
 * @param newSeed for texts whose parameters have none
 * @throws ApiError invalid_request, with every violation
 */
export function parseInfer(body: unknown, defaults: GenerationDefaults, newSeed: () => bigint): InferRequest {
  const { id = null, model_name, inputs, parameters: given = {}, outputs = [] } = validateBody('infer', body);
  const { binary_data_output: asBinary, ...parameters } = given;
  const isBinary = asBinary === true;
  const [input] = inputs;
  if (input === undefined) throw new Error('the schema has one input');
  const { shape, data } = input;
  if (shape.reduce((product, side) => product * side, 1) !== data.length) {
    const rule = `is [${shape.join(', ')}], and data has ${String(data.length)} texts`;
    throw invalidRequest([violationAt('inputs.0.shape', rule)]);
  }
  const lost = ['prompt', 'messages'].filter((name) => Object.hasOwn(parameters, name));
  if (lost.length > 0)
    throw invalidRequest(
      lost.map((name) => violationAt(`parameters.${name}`, 'is not supported: the texts are the prompts')),
    );
  const fields = { ...parameters, ...(model_name == null ? {} : { model: model_name }) };
  const texts = data.map((prompt, index) => ({
    parsed: parseText({ ...fields, prompt }, defaults, newSeed()),
    place: `inputs.0.data.${String(index)}`,
  }));
  const asked = outputs.map(({ name, parameters: own }) => ({
    name,
    isBinary: own?.binary_data ?? isBinary,
  }));
  return { id, shape, texts, outputs: asked.length === 0 ? null : asked, isBinary };
}

function parseText(body: object, defaults: GenerationDefaults, seed: bigint): ApiRequest {
  try {
    return parseRequest('predict', body, defaults, seed);
  } catch (error) {
    throw error instanceof ApiError ? error.within('parameters') : error;
  }
}
