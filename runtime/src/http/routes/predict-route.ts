// POST /v1/models/NAME:predict, KServe's protocol: one body, or a list of them as `instances`.

import type { Request, RequestHandler, Response } from 'express';
import type { AccountedRequest } from '../../keys/request-account.js';
import { ApiError } from '../../request/body/api-error.js';
import type { GenerationDefaults } from '../../request/fields/generation-defaults.js';
import { parseRequest, type ApiRequest } from '../../request/parse/parse-request.js';
import { readWhole } from './answer-route.js';
import type { WholeChoice } from '../protocols/answer-shape.js';
import { Generation } from '../generation/generation.js';
import { nameAnswer } from '../access/request-record.js';
import { notServed, resolveName } from '../replica/served-model.js';
import { newId, randomSeed, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';

export function predictRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const modelName = resolveName(parts.names, String(request.params['name']), request);
    const serving = parts.lifecycle.requireServing();
    const instances = readInstances(request.body);
    const bodies = instances ?? [{ body: request.body as unknown, place: null }];
    const parsed = bodies.map((each) => parseInstance(each, serving.model.defaults));
    const texts = parsed.map((each, index) => ({ parsed: each, place: bodies[index]?.place ?? null }));
    const head = { id: newId('predict-'), model: modelName };
    await answerTexts(parts, { request, response }, head, texts, (choices) => {
      const predictions = choices.map((choice) => prediction(choice, modelName));
      response.json(instances === null ? (predictions[0] ?? {}) : { predictions });
    });
  };
}

/** A request of one prompt. */
interface Text {
  readonly parsed: ApiRequest;
  /** In the body; null: it is the body. */
  readonly place: string | null;
}

/** One answer to several texts: all are generated from, or all refused. */
export async function answerTexts(
  parts: ServerParts,
  { request, response }: { readonly request: Request; readonly response: Response },
  head: Omit<AccountedRequest, 'route'>,
  texts: readonly Text[],
  send: (choices: readonly WholeChoice[]) => void,
): Promise<void> {
  const { metrics, now } = parts;
  const serving = parts.lifecycle.requireServing();
  const { id, model } = head;
  if (!serving.model.defaults.compatibility.predictIgnoresModel) {
    for (const { parsed } of texts) {
      // The path says which adapter answers.
      const named = resolveName(parts.names, parsed.model, request);
      if (named !== model && parts.names.adapters.has(named))
        notServed(parts.names, `${named} at :predict of ${model}`);
    }
  }
  nameAnswer(response, id);
  const accounted = { ...head, route: routeOf(request) };
  await whileAdmitted(parts, response, accounted, texts.length, async (signal, account) => {
    const context = { ...serving, metrics, now, modelName: model, signal, account };
    const asked = texts.flatMap(({ parsed, place }, index) =>
      parsed.prompts.map((source) => ({
        id: place === null ? id : `${id}-${String(index)}`,
        request: parsed,
        source,
        place,
      })),
    );
    const started = await Generation.start(asked, context);
    send(await Promise.all(started.map(readWhole)));
  });
}

interface Instance {
  readonly body: unknown;
  /** In `instances`; null: it is all of the request's body. */
  readonly place: string | null;
}

function parseInstance({ body, place }: Instance, defaults: GenerationDefaults): ApiRequest {
  try {
    return parseRequest('predict', body, defaults, randomSeed());
  } catch (error) {
    throw place !== null && error instanceof ApiError ? error.within(place) : error;
  }
}

/** The bodies of `instances`, where a text stands for its prompt; null: the body itself is the one. */
function readInstances(body: unknown): readonly Instance[] | null {
  if (typeof body !== 'object' || body === null || !('instances' in body)) return null;
  const { instances, ...others } = body;
  if (instances === null) return null;
  if (!Array.isArray(instances) || instances.length === 0 || instances.length > 256) {
    throw ApiError.of('invalid_request', 'instances must be a list of 1 to 256 entries', {
      param: 'instances',
    });
  }
  const [other] = Object.entries(others).flatMap(([name, value]) => (value === null ? [] : name));
  if (other !== undefined) {
    throw ApiError.of('invalid_request', `${other} must be inside of each instance, not beside instances`, {
      param: other,
    });
  }
  return instances.map((instance: unknown, index) => {
    const place = `instances.${String(index)}`;
    if (typeof instance === 'string') return { body: { prompt: instance }, place };
    if (typeof instance === 'object' && instance !== null && !Array.isArray(instance))
      return { body: instance, place };
    const message = `${place} must be a text or an object with prompt or messages`;
    throw ApiError.of('invalid_request', message, { param: place });
  });
}

/** With the members of the reference deployment's answers; further ones only where there is more to say. */
function prediction({ content, reasoning, usage, finish }: WholeChoice, modelName: string): object {
  const isCut = finish === 'length' || finish === 'repetition';
  return {
    model_name: modelName,
    response: content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(isCut ? { finish_reason: finish } : {}),
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
  };
}
