// POST chat/completions and completions, streamed and not: parse, admit, generate, shape.

import type { Request, RequestHandler, Response } from 'express';
import type { RequestAccount } from '../keys/request-account.js';
import { parseRequest, type ApiRequest } from '../request/parse-request.js';
import type { TextDelta } from '../request/text-stream.js';
import { addUsage, type AnswerHead, type AnswerShape, type WholeChoice } from './answer-shape.js';
import { bestChoices } from './best-choices.js';
import { asApiError, Generation } from './generation.js';
import { textsById, type TokenTexts } from './logprob-shapes.js';
import { onePerCall } from './one-per-call.js';
import { mergeAsync } from './merge-deltas.js';
import { resolveName } from './served-model.js';
import { newId, randomSeed, routeOf, whileAdmitted, type ServerParts } from './server-parts.js';
import { SseStream } from './sse-stream.js';

export function openAiRoute(
  parts: ServerParts,
  kind: 'chat' | 'completions',
  shape: AnswerShape,
): RequestHandler {
  return async (request, response) => {
    const { model } = parts.lifecycle.requireServing();
    const parsed = parseRequest(kind, request.body, model.defaults, randomSeed());
    const head: AnswerHead = {
      id: newId(shape.idPrefix),
      created: Math.floor(Date.now() / 1000),
      model: resolveName(parts.names, parsed.model),
    };
    response.setHeader('x-request-id', head.id);
    const { choices } = parsed;
    const count = parsed.prompts.length * choices.generated;
    const accounted = { id: head.id, route: routeOf(request), model: head.model };
    await whileAdmitted(parts, response, accounted, count, async (signal, account) => {
      const generations = await startAll(parts, request, parsed, head, signal, account);
      const texts = parsed.details.tokensAsIds ? textsById(model.tokenizer) : model.tokenizer;
      if (parsed.stream) await stream(response, generations, parsed, head, shape, texts);
      else {
        const whole = bestChoices(await Promise.all(generations.map(readWhole)), choices);
        response.json(shape.whole(head, whole, texts));
      }
    });
  };
}

async function startAll(
  { lifecycle, metrics, logger, now }: ServerParts,
  request: Request,
  parsed: ApiRequest,
  head: AnswerHead,
  signal: AbortSignal,
  account: RequestAccount,
): Promise<Generation[]> {
  const context = {
    ...lifecycle.requireServing(),
    metrics,
    logger,
    now,
    route: routeOf(request),
    modelName: head.model,
    signal,
    account,
  };
  const idOf = (index: number): string =>
    parsed.prompts.length === 1 ? head.id : `${head.id}-${String(index)}`;
  const firsts = await Promise.all(
    parsed.prompts.map((prompt, index) => Generation.start(idOf(index), parsed, prompt, context)),
  );
  const others = Array.from({ length: parsed.choices.generated - 1 }, (_, index) => index + 1);
  return firsts.flatMap((first) => [first, ...others.map((choice) => first.sibling(choice))]);
}

/** Reads a generation to its end. */
export async function readWhole(generation: Generation): Promise<WholeChoice> {
  const deltas: TextDelta[] = [];
  for await (const delta of generation.deltas()) deltas.push(delta);
  const last = deltas.at(-1);
  return {
    content: deltas.map((delta) => delta.content).join(''),
    reasoning: deltas.map((delta) => delta.reasoning).join(''),
    toolCalls: deltas.flatMap((delta) => delta.toolCalls),
    logprobs: deltas.flatMap((delta) => delta.logprobs),
    tokenIds: last?.tokenIds == null ? null : deltas.flatMap((delta) => delta.tokenIds ?? []),
    promptTokenIds: deltas.find((delta) => delta.promptTokenIds !== null)?.promptTokenIds ?? null,
    meanLogprob: generation.meanLogprob,
    promptScores: generation.promptScores,
    finish: last?.finish ?? null,
    stopReason: last?.stopReason ?? null,
    usage: generation.usage,
  };
}

function tellsNothing(delta: TextDelta): boolean {
  const { content, reasoning, toolCalls, logprobs, tokenIds, promptTokenIds } = delta;
  const hasIds = promptTokenIds !== null || (tokenIds !== null && tokenIds.length > 0);
  return content === '' && reasoning === '' && toolCalls.length === 0 && logprobs.length === 0 && !hasIds;
}

async function stream(
  response: Response,
  generations: readonly Generation[],
  { includeUsage, details }: ApiRequest,
  head: AnswerHead,
  shape: AnswerShape,
  texts: TokenTexts,
): Promise<void> {
  const sse = new SseStream(response);
  const positions = generations.map(() => 0);
  const usage = (): ReturnType<typeof addUsage> =>
    addUsage(generations.map((generation) => generation.usage));
  let unfinished = generations.length;
  try {
    for await (const { index, value: delta } of mergeAsync(generations.map((each) => each.deltas()))) {
      if (delta.finish !== null) unfinished -= 1;
      // Bytes of half a character, or the beginning of a stop string: nothing to tell yet.
      else if (tellsNothing(delta)) continue;
      const isLast = shape.usageOnLastChunk && !includeUsage && unfinished === 0;
      const told = isLast || details.continuousUsage ? usage() : null;
      const position = positions[index] ?? 0;
      const parts = onePerCall(delta);
      const last = parts.length - 1;
      await sse.send(
        ...parts.map((part, i) => shape.chunk(head, index, part, position, i === last ? told : null, texts)),
      );
      positions[index] = (positions[index] ?? 0) + delta.content.length;
    }
    if (includeUsage) await sse.send(shape.usageChunk(head, usage()));
    sse.finish();
  } catch (error) {
    if (!response.headersSent) {
      sse.abandon();
      throw error;
    }
    sse.fail(asApiError(error).body);
  }
}
