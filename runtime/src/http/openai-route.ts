// POST chat/completions and completions, streamed and not: parse, admit, generate, shape.

import type { Request, RequestHandler, Response } from 'express';
import { parseRequest, type ApiRequest } from '../request/parse-request.js';
import type { TextDelta } from '../request/text-stream.js';
import { addUsage, type AnswerHead, type AnswerShape, type WholeChoice } from './answer-shape.js';
import { asApiError, Generation } from './generation.js';
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
    await whileAdmitted(parts, response, parsed.prompts.length, async (signal) => {
      const generations = await startAll(parts, request, parsed, head, signal);
      if (parsed.stream) await stream(response, generations, parsed, head, shape, parts);
      else response.json(shape.whole(head, await Promise.all(generations.map(readWhole)), model.tokenizer));
    });
  };
}

async function startAll(
  { lifecycle, metrics, logger, now }: ServerParts,
  request: Request,
  parsed: ApiRequest,
  head: AnswerHead,
  signal: AbortSignal,
): Promise<Generation[]> {
  const context = {
    ...lifecycle.requireServing(),
    metrics,
    logger,
    now,
    route: routeOf(request),
    modelName: head.model,
    signal,
  };
  const idOf = (index: number): string =>
    parsed.prompts.length === 1 ? head.id : `${head.id}-${String(index)}`;
  return Promise.all(
    parsed.prompts.map((prompt, index) => Generation.start(idOf(index), parsed, prompt, context)),
  );
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
    finish: last?.finish ?? null,
    stopReason: last?.stopReason ?? null,
    usage: generation.usage,
  };
}

async function stream(
  response: Response,
  generations: readonly Generation[],
  { includeUsage }: ApiRequest,
  head: AnswerHead,
  shape: AnswerShape,
  { lifecycle }: ServerParts,
): Promise<void> {
  const texts = lifecycle.requireServing().model.tokenizer;
  const sse = new SseStream(response);
  const positions = generations.map(() => 0);
  const usage = (): ReturnType<typeof addUsage> =>
    addUsage(generations.map((generation) => generation.usage));
  let unfinished = generations.length;
  try {
    for await (const { index, value: delta } of mergeAsync(generations.map((each) => each.deltas()))) {
      if (delta.finish !== null) unfinished -= 1;
      // Bytes of half a character, or the beginning of a stop string: nothing to tell yet.
      else if (isEmpty(delta)) continue;
      const told = shape.usageOnLastChunk && !includeUsage && unfinished === 0 ? usage() : null;
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

function isEmpty({ content, reasoning, toolCalls, logprobs }: TextDelta): boolean {
  return content === '' && reasoning === '' && toolCalls.length === 0 && logprobs.length === 0;
}
