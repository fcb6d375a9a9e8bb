// POST generate and warmup: one prompt as it is, without a chat template, and one answer in one piece.

import type { RequestHandler } from 'express';
import type { AccountedRequest, RequestAccount } from '../../keys/request-account.js';
import { parseRequest, type ApiRequest } from '../../request/parse/parse-request.js';
import { validateBody } from '../../request/validate/validate-body.js';
import { readWhole } from './answer-route.js';
import { usageBody, type WholeChoice } from '../protocols/answer-shape.js';
import { Generation } from '../generation/generation.js';
import { nameAnswer } from '../access/request-record.js';
import { resolveName } from '../replica/served-model.js';
import { newId, randomSeed, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';

export function generateRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseRequest('generate', request.body, model.defaults, randomSeed());
    const head = { id: newId('gen-'), model: resolveName(parts.names, parsed.model, request) };
    const accounted = { ...head, route: routeOf(request) };
    nameAnswer(response, head.id);
    await whileAdmitted(parts, response, accounted, 1, async (signal, account) => {
      const choice = await generate(parts, parsed, { ...accounted, signal, account });
      const { content, finish, stopReason, usage } = choice;
      const end = { finish_reason: finish, stop_reason: stopReason };
      response.json({ ...head, text: content, ...end, usage: usageBody(usage) });
    });
  };
}

/** A short generation as any client's: what is made at first use, down to the device's kernels, is made now. */
export function warmupRoute(parts: ServerParts): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    validateBody('warmup', request.body ?? {});
    const body = { prompt: 'Hello', max_tokens: 4, ignore_eos: true, temperature: 0 };
    const parsed = parseRequest('completions', body, model.defaults, randomSeed());
    const accounted = { id: newId('warmup-'), model: parts.names.name, route: routeOf(request) };
    await whileAdmitted(parts, response, accounted, 1, async (signal, account) => {
      const startedAt = parts.now();
      const { usage } = await generate(parts, parsed, { ...accounted, signal, account });
      const seconds = (parts.now() - startedAt) / 1000;
      response.json({ model: accounted.model, seconds, usage: usageBody(usage) });
    });
  };
}

interface Head extends AccountedRequest {
  readonly signal: AbortSignal;
  readonly account: RequestAccount;
}

async function generate(
  { lifecycle, metrics, now }: ServerParts,
  request: ApiRequest,
  { id, model, signal, account }: Head,
): Promise<WholeChoice> {
  const context = {
    ...lifecycle.requireServing(),
    metrics,
    now,
    modelName: model,
    signal,
    account,
  };
  const asked = request.prompts.map((source) => ({ id, request, source, place: null }));
  const [generation] = await Generation.start(asked, context);
  if (generation === undefined) throw new Error('a request of this route has one prompt');
  return readWhole(generation);
}
