// POST of every protocol of generated answers, streamed and not: read, admit, generate, write.

import { headers } from '@llmservice/crds';
import type { Request, RequestHandler, Response } from 'express';
import type { AccountedRequest, RequestAccount } from '../../keys/request-account.js';
import { ApiError, type Wording } from '../../request/body/api-error.js';
import type { ApiRequest } from '../../request/parse/parse-request.js';
import { joinDeltas } from '../../request/text/join-deltas.js';
import type { TextDelta } from '../../request/text/text-stream.js';
import type { AnswerProtocol, AnswerWriter, ReadRequest } from '../protocols/answer-protocol.js';
import { addUsage, type AnswerHead, type WholeChoice } from '../protocols/answer-shape.js';
import { bestChoices } from '../protocols/best-choices.js';
import { asApiError, Generation, type Usage } from '../generation/generation.js';
import { textsOf } from '../protocols/logprob-shapes.js';
import { mergeAsync } from '../generation/merge-deltas.js';
import { nameAnswer } from '../access/request-record.js';
import { resolveName } from '../replica/served-model.js';
import { sendJson } from '../replica/send-json.js';
import { newId, randomSeed, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';
import { SseStream } from './sse-stream.js';

export function answerRoute(parts: ServerParts, protocol: AnswerProtocol): RequestHandler {
  return worded(protocol.wordings, (request, response) => answer(parts, protocol, request, response));
}

/** A handler whose errors are in the words of its clients' protocol. */
export function worded(
  wordings: readonly Wording[],
  handle: (request: Request, response: Response) => Promise<void>,
): RequestHandler {
  return async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      throw error instanceof ApiError ? error.worded(wordings) : error;
    }
  };
}

/** A request that was read, of which nothing runs yet. */
interface AskedAnswer<Writer extends AnswerWriter> {
  readonly parsed: ApiRequest;
  readonly writer: ReadRequest<Writer>['writer'];
  readonly head: AnswerHead;
  readonly accounted: AccountedRequest;
  /** Generations. */
  readonly count: number;
}

/** @throws ApiError */
export async function readAnswer<Writer extends AnswerWriter>(
  parts: ServerParts,
  protocol: AnswerProtocol<Writer>,
  request: Request,
  response: Response,
): Promise<AskedAnswer<Writer>> {
  const { model } = parts.lifecycle.requireServing();
  const id = newId(protocol.idPrefix);
  // Of refusals too, which people report by it.
  nameAnswer(response, id);
  for (const name of protocol.idHeaders) response.setHeader(name, id);
  const { parsed, writer } = await protocol.read(request.body, model.defaults, randomSeed());
  const hasOwnTemplate = parsed.prompts.some(
    (prompt) => prompt.kind === 'messages' && prompt.template !== null,
  );
  if (parsed.tools !== null && model.chatTemplate?.describesTools === true && !hasOwnTemplate)
    response.setHeader(headers.tools, 'described');
  const head: AnswerHead = {
    id,
    created: Math.floor(Date.now() / 1000),
    model: resolveName(parts.names, parsed.model, request),
  };
  const count = parsed.prompts.length * parsed.choices.generated;
  return { parsed, writer, head, accounted: { id, route: routeOf(request), model: head.model }, count };
}

/** @throws ApiError: nothing of it runs then */
export async function startAnswer<Writer extends AnswerWriter>(
  parts: ServerParts,
  { parsed, head, writer }: AskedAnswer<Writer>,
  signal: AbortSignal,
  account: RequestAccount,
): Promise<{ readonly generations: readonly Generation[]; readonly writer: Writer }> {
  const { tokenizer } = parts.lifecycle.requireServing().model;
  const generations = await startAll(parts, parsed, head, signal, account);
  // An answer without log probabilities names no token.
  const texts = parsed.sampling.topLogprobs === null ? tokenizer : textsOf(tokenizer, parsed);
  return { generations, writer: writer(head, texts) };
}

export async function answer(
  parts: ServerParts,
  protocol: AnswerProtocol,
  request: Request,
  response: Response,
): Promise<void> {
  const asked = await readAnswer(parts, protocol, request, response);
  const { parsed, accounted, count } = asked;
  await whileAdmitted(parts, response, accounted, count, async (signal, account) => {
    const { generations, writer } = await startAnswer(parts, asked, signal, account);
    if (parsed.stream) {
      await stream(new SseStream(response, protocol.keepAlive, parsed.obfuscates), generations, writer);
      return;
    }
    const read = await Promise.all(generations.map(readWhole));
    const whole = await writer.whole(bestChoices(read, parsed.choices));
    await sendJson(response, whole, parts.turns, signal);
  });
}

async function startAll(
  { lifecycle, metrics, now }: ServerParts,
  parsed: ApiRequest,
  head: AnswerHead,
  signal: AbortSignal,
  account: RequestAccount,
): Promise<Generation[]> {
  const context = {
    ...lifecycle.requireServing(),
    metrics,
    now,
    modelName: head.model,
    signal,
    account,
  };
  const idOf = (index: number): string =>
    parsed.prompts.length === 1 ? head.id : `${head.id}-${String(index)}`;
  const asked = parsed.prompts.map((source, index) => ({
    id: idOf(index),
    request: parsed,
    source,
    place: null,
  }));
  const firsts = await Generation.start(asked, context);
  const others = Array.from({ length: parsed.choices.generated - 1 }, (_, index) => index + 1);
  return firsts.flatMap((first) => [first, ...others.map((choice) => first.sibling(choice))]);
}

/** Reads a generation to its end. */
export async function readWhole(generation: Generation): Promise<WholeChoice> {
  const deltas: TextDelta[] = [];
  for await (const delta of generation.deltas()) deltas.push(delta);
  const { meanLogprob, promptScores, usage } = generation;
  return { ...joinDeltas(deltas), meanLogprob, promptScores, usage, deltas };
}

function isEmpty(delta: TextDelta): boolean {
  const { content, reasoning, toolCalls, logprobs, tokenIds, promptTokenIds } = delta;
  const hasIds = promptTokenIds !== null || (tokenIds !== null && tokenIds.length > 0);
  return content === '' && reasoning === '' && toolCalls.length === 0 && logprobs.length === 0 && !hasIds;
}

interface Part {
  /** Of the generation. */
  readonly index: number;
  readonly value: TextDelta;
}

/** In the order in which they come. */
function partsOf(generations: readonly Generation[]): AsyncGenerator<Part> {
  const deltas = generations.map((each) => each.deltas());
  const [first] = deltas;
  return first !== undefined && deltas.length === 1 ? partsOfOne(first) : mergeAsync(deltas);
}

async function* partsOfOne(deltas: AsyncIterable<TextDelta>): AsyncGenerator<Part> {
  for await (const value of deltas) yield { index: 0, value };
}

/** Where the events of an answer go. */
export interface EventSink {
  /** Whether errors have to be events. */
  readonly hasBegun: boolean;
  /** Resolves once more may be sent. */
  send(...events: readonly string[]): Promise<void>;
  /** With the last events. */
  end(...events: readonly string[]): void;
  /** Whoever asked is answered otherwise. */
  abandon(): void;
}

export async function stream(
  sse: EventSink,
  generations: readonly Generation[],
  answerWriter: AnswerWriter,
): Promise<void> {
  const all = (): Usage => addUsage(generations.map((generation) => generation.usage));
  try {
    for await (const { index, value: delta } of partsOf(generations)) {
      // Bytes of half a character, or the beginning of a stop string: nothing to send yet.
      if (delta.finish === null && isEmpty(delta)) continue;
      const own = (): Usage => generations[index]?.ownUsage ?? all();
      await sse.send(...answerWriter.delta(index, delta, { all, own }));
    }
    sse.end(...(await answerWriter.end(all())));
  } catch (error) {
    if (!sse.hasBegun) {
      sse.abandon();
      throw error;
    }
    sse.end(...answerWriter.failure(asApiError(error)));
  }
}
