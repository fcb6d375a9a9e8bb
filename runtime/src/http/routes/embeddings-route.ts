// POST embeddings: inputs in OpenAI's form.

import type { RequestHandler } from 'express';
import {
  parseEmbeddings,
  prepareEmbedding,
  requireDimensions,
  type EmbeddingsRequest,
} from '../../request/prepare/parse-embeddings.js';
import { LongList } from '../../request/text/long-json.js';
import { runEmbedding } from '../generation/prompt-result.js';
import type { ServerParts } from '../replica/server-parts.js';
import { answerPrompts } from './each-prompt.js';

export function embeddingsRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseEmbeddings(request.body);
    requireDimensions(parsed, model);
    await answerPrompts(parts, [request, response], {
      ...parsed,
      prefix: 'embd-',
      prepare: (input, id, model, signal) => prepareEmbedding(parsed, input, id, model, signal),
      run: (each, context) => runEmbedding(each, context, parsed.dimensions ?? undefined),
      answer: ({ modelName, results, usage }) => ({
        object: 'list',
        data: new LongList(results.length, (index) => ({
          object: 'embedding',
          index,
          embedding: encode(results[index] ?? new Float32Array(), parsed.encoding),
        })),
        model: modelName,
        usage,
      }),
    });
  };
}

/** base64: of the floats in little-endian order, four bytes each. */
function encode(values: Float32Array, encoding: EmbeddingsRequest['encoding']): number[] | string {
  if (encoding === 'float') return Array.from(values);
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
