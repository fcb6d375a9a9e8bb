// POST embeddings: inputs, so many at once, alongside whatever the engine generates, in OpenAI's form.

import type { RequestHandler } from 'express';
import {
  parseEmbeddings,
  prepareEmbedding,
  type EmbeddingsRequest,
} from '../../request/prepare/parse-embeddings.js';
import { runEmbedding } from '../generation/embedding.js';
import { LongList } from '../../request/text/long-json.js';
import { nameAnswer } from '../access/request-record.js';
import { resolveName } from '../replica/served-model.js';
import { sendJson } from '../replica/send-json.js';
import { newId, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';

/** Of one request's inputs, in the engine: OpenAI's clients send up to 2,048. */
const maxAtOnce = 64;

export function embeddingsRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const serving = parts.lifecycle.requireServing();
    const parsed = parseEmbeddings(request.body);
    const modelName = resolveName(parts.names, parsed.model, request);
    const id = newId('embd-');
    nameAnswer(response, id);
    const { metrics, now } = parts;
    const accounted = { id, route: routeOf(request), model: modelName };
    const atOnce = Math.min(parsed.inputs.length, maxAtOnce, parts.admission.limit);
    await whileAdmitted(parts, response, accounted, atOnce, async (signal, account) => {
      const context = {
        ...serving,
        metrics,
        now,
        modelName,
        signal,
        account,
      };
      // All are checked before any runs.
      const prepared = await Promise.all(
        parsed.inputs.map((input, index) =>
          prepareEmbedding(parsed, input, `${id}-${String(index)}`, serving.model, signal),
        ),
      );
      const requests = prepared.map((each) => account.share(each, parsed.priority));
      const tokens = requests.reduce((sum, { prompt }) => sum + prompt.length, 0);
      account.spendPrompts(tokens, signal);
      const embeddings: Float32Array[] = [];
      while (embeddings.length < requests.length) {
        const some = requests.slice(embeddings.length, embeddings.length + atOnce);
        embeddings.push(...(await Promise.all(some.map((each) => runEmbedding(each, context)))));
      }
      const data = new LongList(embeddings.length, (index) => ({
        object: 'embedding',
        index,
        embedding: encode(embeddings[index] ?? new Float32Array(), parsed.encoding),
      }));
      const usage = { prompt_tokens: tokens, total_tokens: tokens };
      await sendJson(response, { object: 'list', data, model: modelName, usage }, parts.turns, signal);
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
