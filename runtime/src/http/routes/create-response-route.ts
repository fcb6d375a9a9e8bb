// POST /v1/responses where responses are stored: an answer as on any other route, which is kept when it has ended; or
// one that runs in the background, while its client may go away and come back.

import { headers } from '@llmservice/crds';
import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';
import { recordOf } from '../access/request-record.js';
import type { AnswerProtocol } from '../protocols/answer-protocol.js';
import { readResponses, responsesProtocol, type ResponseWriter } from '../protocols/responses-protocol.js';
import { StoringWriter, type AtEnd } from '../protocols/storing-writer.js';
import { whileAdmitted, type ServerParts } from '../replica/server-parts.js';
import { EventLog } from '../stored-responses/event-log.js';
import { ownerOf, type StoredResponses } from '../stored-responses/stored-responses.js';
import { askerOf } from './asker-of.js';
import { answer, readAnswer, startAnswer, stream, worded, type EventSink } from './answer-route.js';
import { follow } from './follow-events.js';

/** Its client has nothing but what is stored: it outlives half a minute without S3. */
const waitsInBackgroundMs = [1_000, 2_000, 4_000, 8_000, 16_000];

/** Of a response that is fetched when it has ended. */
const noEvents: EventSink = {
  hasBegun: true,
  send: () => Promise.resolve(),
  end: () => undefined,
  abandon: () => undefined,
};

export function createResponseRoute(parts: ServerParts, stored: StoredResponses): RequestHandler {
  return worded(responsesProtocol.wordings, async (request, response) => {
    const owner = ownerOf(recordOf(response).key);
    const protocol: AnswerProtocol<ResponseWriter> = {
      ...responsesProtocol,
      read: async (body, defaults, randomSeed) =>
        readResponses(body, defaults, randomSeed, await stored.earlier(askerOf(parts, response), body)),
    };
    const atEnd = { converse: converseFor(stored, owner), keep: keepFor(parts, stored, owner) };
    // Of a body that may be invalid yet, which is then refused on both ways.
    const { background } = (request.body ?? {}) as Fields;
    if (background === true && request.get(headers.usage) !== undefined) throw notCounted();
    if (background === true) await answerInBackground(parts, stored, protocol, request, response, atEnd);
    else await answer(parts, storing(protocol, atEnd), request, response);
  });
}

/** A gateway that counts tokens learns what it took from the answer, which would have ended before. */
function notCounted(): ApiError {
  const message =
    'background: true is not taken through a gateway with keys, which counts the tokens of each answer: ask the service itself';
  return ApiError.of('invalid_request', message, { param: 'background' });
}

function converseFor(stored: StoredResponses, owner: string): AtEnd['converse'] {
  return async (writer) => {
    const { turn } = writer;
    if (turn === null) return;
    await stored.converse(owner, turn, writer.response.background ? waitsInBackgroundMs : []);
  };
}

/** What cannot be stored is not found later: its client has its answer all the same. */
function keepFor({ logger }: ServerParts, stored: StoredResponses, owner: string): AtEnd['keep'] {
  return async ({ items, response, stores }, events) => {
    if (!stores) return;
    const { id } = response;
    const put = (kept: readonly string[] | null): Promise<boolean> =>
      stored.put(
        owner,
        { response, items, events: kept, aliveAtMs: null },
        response.background ? waitsInBackgroundMs : [],
      );
    try {
      const isStored = (events !== undefined && (await put(events))) || (await put(null));
      if (!isStored) logger.warn('a response is too large to be stored', { id });
    } catch (error) {
      logger.error('a response could not be stored', { id, error: String(error) });
    }
  };
}

/** The protocol, with answers that are stored before their clients get their ends. */
function storing(protocol: AnswerProtocol<ResponseWriter>, atEnd: AtEnd): AnswerProtocol {
  return {
    ...protocol,
    async read(body, defaults, randomSeed) {
      const { parsed, writer } = await protocol.read(body, defaults, randomSeed);
      return {
        parsed,
        writer: (head, texts) => new StoringWriter(writer(head, texts), atEnd),
      };
    },
  };
}

async function answerInBackground(
  parts: ServerParts,
  stored: StoredResponses,
  protocol: AnswerProtocol<ResponseWriter>,
  request: Request,
  response: Response,
  atEnd: AtEnd,
): Promise<void> {
  const asked = await readAnswer(parts, protocol, request, response);
  const { key } = recordOf(response);
  const { accounted, count, head } = asked;
  // Its input and its events are held as a body is, beyond the answer to the request that its body came with.
  const held = parts.bodies.open(key, () => undefined);
  held.arrived();
  let followed = Promise.resolve();
  const run: Parameters<typeof whileAdmitted>[4] = async (signal, account, end) => {
    const { generations, writer } = await startAnswer(parts, asked, signal, account);
    const { items } = writer;
    held.take(Buffer.byteLength(JSON.stringify(items)));
    const log = asked.parsed.stream ? new EventLog((bytes) => held.take(bytes)) : null;
    const sink = log ?? noEvents;
    await sink.send(...writer.queued());
    const queued = writer.response;
    const { found, kept } = stored.run(
      {
        owner: ownerOf(key),
        id: head.id,
        items,
        response: () => writer.response,
        log,
        cancel: () => end(ApiError.of('request_cancelled', 'its client cancelled the response')),
      },
      // It is stored with the events of its end.
      stream(sink, generations, new StoringWriter(writer, { ...atEnd, keep: () => Promise.resolve() })),
      () => atEnd.keep(writer, log?.events),
    );
    await found;
    if (log === null) response.json(queued);
    else followed = follow(log, -1, response, asked.parsed);
    await kept;
  };
  try {
    await whileAdmitted(parts, response, accounted, count, run, { outlivesConnection: true });
  } finally {
    held.release();
  }
  await followed;
}
