// POST /v2/models/NAME/infer, the Open Inference Protocol: a tensor of texts, each answered as a prompt of :predict is.

import type { RequestHandler, Response } from 'express';
import { tensors, type OutputName } from '../../request/fields/infer-fields.js';
import { parseInfer, type AskedOutput, type InferRequest } from '../../request/parse/parse-infer.js';
import { bytesOf, header } from '../bodies/tensor-texts.js';
import { addUsage, type WholeChoice } from '../protocols/answer-shape.js';
import { resolveName } from '../replica/served-model.js';
import { newId, randomSeed, type ServerParts } from '../replica/server-parts.js';
import { answerTexts } from './predict-route.js';

export function inferRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const model = resolveName(parts.names, String(request.params['name']), request);
    const { defaults } = parts.lifecycle.requireServing().model;
    const asked = parseInfer(request.body, defaults, randomSeed);
    const head = { id: newId('infer-'), model };
    await answerTexts(parts, { request, response }, head, asked.texts, (choices) => {
      const { promptTokens, completionTokens } = addUsage(choices.map(({ usage }) => usage));
      const body = {
        model_name: model,
        id: asked.id ?? head.id,
        parameters: { prompt_tokens: promptTokens, completion_tokens: completionTokens },
      };
      sendTensors(response, body, asked.shape, tensorsOf(asked, choices));
    });
  };
}

interface Tensor extends AskedOutput {
  readonly texts: readonly string[];
}

function tensorsOf({ outputs, isBinary }: InferRequest, choices: readonly WholeChoice[]): Tensor[] {
  const texts: Readonly<Record<OutputName, readonly string[]>> = {
    [tensors.output]: choices.map(({ content }) => content),
    [tensors.reasoning]: choices.map(({ reasoning }) => reasoning),
  };
  const hasReasoning = texts.reasoning.some((each) => each !== '');
  const all = [tensors.output, ...(hasReasoning ? [tensors.reasoning] : [])];
  const asked = outputs ?? all.map((name) => ({ name, isBinary }));
  return asked.map((each) => ({ ...each, texts: texts[each.name] }));
}

/** Tensors that are to be binary stand behind the JSON, in their order. */
function sendTensors(
  response: Response,
  body: object,
  shape: readonly number[],
  all: readonly Tensor[],
): void {
  const tails: Buffer[] = [];
  const outputs = all.map(({ name, isBinary, texts }) => {
    const described = { name, datatype: 'BYTES', shape };
    if (!isBinary) return { ...described, data: texts };
    const bytes = bytesOf(texts);
    tails.push(bytes);
    return { ...described, parameters: { binary_data_size: bytes.length } };
  });
  const answer = { ...body, outputs };
  if (tails.length === 0) {
    response.json(answer);
    return;
  }
  const json = Buffer.from(JSON.stringify(answer));
  response.setHeader('content-type', 'application/octet-stream');
  response.setHeader(header, String(json.length));
  response.end(Buffer.concat([json, ...tails]));
}
