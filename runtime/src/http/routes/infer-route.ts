// POST /v2/models/NAME/infer, the Open Inference Protocol: a tensor of texts, each answered as a prompt of :predict is.

import type { RequestHandler } from 'express';
import { tensors } from '../../request/fields/infer-fields.js';
import { parseInfer } from '../../request/parse/parse-infer.js';
import { addUsage } from '../protocols/answer-shape.js';
import { resolveName } from '../replica/served-model.js';
import { newId, randomSeed, type ServerParts } from '../replica/server-parts.js';
import { answerTexts } from './predict-route.js';

export function inferRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const model = resolveName(parts.names, String(request.params['name']), request);
    const { defaults } = parts.lifecycle.requireServing().model;
    const { id, shape, texts } = parseInfer(request.body, defaults, randomSeed);
    const head = { id: newId('infer-'), model };
    await answerTexts(parts, { request, response }, head, texts, (choices) => {
      const output = (name: string, data: readonly string[]): object => ({
        name,
        datatype: 'BYTES',
        shape,
        data,
      });
      const reasoning = choices.map((choice) => choice.reasoning);
      const { promptTokens, completionTokens } = addUsage(choices.map(({ usage }) => usage));
      return {
        model_name: model,
        id: id ?? head.id,
        parameters: { prompt_tokens: promptTokens, completion_tokens: completionTokens },
        outputs: [
          output(
            tensors.output,
            choices.map(({ content }) => content),
          ),
          ...(reasoning.some((each) => each !== '') ? [output(tensors.reasoning, reasoning)] : []),
        ],
      };
    });
  };
}
