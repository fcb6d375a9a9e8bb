// What a prefill pod does for decode pods, on a port of its own: computes a prompt to its end and holds what it became under
// a ticket, until the asker has fetched it. The answer begins at once and continues with an empty line every second, so that
// whoever waits knows that the pod is alive. Whoever goes away ends the computation, or the ticket.

import express, { type Express, type RequestHandler, type Response } from 'express';
import { ticketMs } from '../disaggregation/offers.js';
import { prefillPath, type PrefillAnswer, type PrefillAsk } from '../disaggregation/prefill-ask.js';
import { readPrefillAsk } from '../disaggregation/read-prefill-ask.js';
import { ApiError } from '../request/body/api-error.js';
import { invalidRequest, violationAt } from '../request/body/violation.js';
import { plainAnswer, type GenerateRequest } from '../schedule/generation.js';
import { recordRequests } from './access/request-record.js';
import { jsonBody } from './bodies/json-body.js';
import { asApiError } from './generation/generation.js';
import type { GenerationEngine } from './replica/engine-port.js';
import { newId, type RunningRequest, type ServerParts } from './replica/server-parts.js';
import { errorHandler } from './routes/error-handler.js';

const aliveMs = 1_000;
/** The engine ends a ticket first, so that it counts one that nobody fetched; it looks every second. */
const heldMs = ticketMs + 5_000;

export interface PrefillParts {
  readonly server: ServerParts;
  /** Where rank 0 hands KV over. */
  readonly transferPort: number;
}

export function makePrefillApp({ server, transferPort }: PrefillParts): Express {
  const { admission, bodies, turns, logger } = server;
  const tickets = new Tickets();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(recordRequests({ ...server, observers: [] }));
  // Before a body is read that would be refused after it.
  const early: RequestHandler = (_request, _response, next) => {
    server.lifecycle.requireServing();
    admission.requireRoom(1, null);
    next();
  };
  app.post(prefillPath, early, jsonBody(bodies, turns), async ({ body }, response) => {
    const { engine } = server.lifecycle.requireServing();
    const ask = readAsk(body as unknown, engine);
    await new Prefill(server, tickets, response, engine, transferPort).run(ask);
  });
  app.delete(`${prefillPath}/:ticket`, ({ params: { ticket } }, response) => {
    if (!tickets.end(ticket)) {
      const message = `no prompt is held under the ticket ${ticket}: it was fetched, or not in time`;
      throw ApiError.of('item_not_found', message);
    }
    response.status(204).end();
  });
  app.use(({ method, path }) => {
    const known = `POST ${prefillPath}, DELETE ${prefillPath}/TICKET`;
    throw ApiError.of('route_not_found', `there is no ${method} ${path} here; there are ${known}`);
  });
  app.use(errorHandler(logger));
  return app;
}

/** @throws ApiError model_not_ready, invalid_request */
function readAsk(body: unknown, engine: GenerationEngine): PrefillAsk {
  const { state } = engine.health();
  if (state.kind !== 'ready') throw ApiError.of('model_not_ready', 'the engine is started again');
  const ask = readPrefillAsk(body, state.info.vocabSize);
  const { kvLayout } = state.info;
  if (ask.layout === kvLayout) return ask;
  const message = `is ${JSON.stringify(ask.layout)}, and blocks here are laid out as ${JSON.stringify(kvLayout)}: both pods must serve the same model with the same settings, on the same kind of device`;
  throw invalidRequest([violationAt('layout', message)]);
}

/** Prompts that are held; each counts as one that runs until it is fetched, or its time is over. */
class Tickets {
  readonly #open = new Map<string, () => void>();

  /** @param end is called once, by whoever is first to end it */
  hold(ticket: string, end: () => void): void {
    const timer = setTimeout(() => this.end(ticket), heldMs).unref();
    this.#open.set(ticket, () => {
      clearTimeout(timer);
      end();
    });
  }

  /** False: there is no such ticket. */
  end(ticket: string): boolean {
    const end = this.#open.get(ticket);
    this.#open.delete(ticket);
    end?.();
    return end !== undefined;
  }
}

/** One prompt of a decode pod. */
class Prefill {
  private readonly id = newId('prefill-');

  constructor(
    private readonly server: ServerParts,
    private readonly tickets: Tickets,
    private readonly response: Response,
    private readonly engine: GenerationEngine,
    private readonly transferPort: number,
  ) {}

  /** @throws ApiError queue_full; later ones are the last line of the answer */
  async run(ask: PrefillAsk): Promise<void> {
    const { admission, running, names, now } = this.server;
    const { id, engine, response, tickets } = this;
    const controller = new AbortController();
    const entry: RunningRequest = {
      ...{ id, route: prefillPath, model: names.name, key: null, generations: 1 },
      startedAt: now(),
      controller,
    };
    const leave = admission.enter(1, null);
    running.add(entry);
    response.once('close', () => {
      controller.abort(ApiError.of('request_aborted', 'the asker went away'));
      // It went before it had its answer whole.
      if (!response.writableFinished) tickets.end(id);
    });
    const alive = setInterval(() => response.write('\n'), aliveMs);
    try {
      response.status(200).setHeader('content-type', 'application/x-ndjson');
      response.flushHeaders();
      const answer = await this.compute(ask, controller.signal);
      tickets.hold(id, () => {
        engine.withdraw(id);
        leave();
      });
      if (response.destroyed) tickets.end(id);
      response.end(`${JSON.stringify(answer)}\n`);
    } catch (error) {
      leave();
      const reason: unknown = controller.signal.reason;
      response.end(`${JSON.stringify((reason instanceof ApiError ? reason : asApiError(error)).body)}\n`);
    } finally {
      clearInterval(alive);
      running.delete(entry);
    }
  }

  /** @throws FailureError, ApiError */
  private async compute(ask: PrefillAsk, signal: AbortSignal): Promise<PrefillAnswer> {
    const { id: ticket, transferPort: port } = this;
    let cachedTokens = 0;
    for await (const output of this.engine.submit(requestOf(ticket, ask), { signal })) {
      cachedTokens = output.cachedTokens ?? cachedTokens;
      if (output.offered !== null) return { ticket, port, ...output.offered, cachedTokens };
    }
    signal.throwIfAborted();
    throw new Error('the engine computed a prompt and does not offer it');
  }
}

/** One token is sampled, which nobody reads. */
function requestOf(id: string, ask: PrefillAsk): GenerateRequest {
  const { prompt, cacheSalt, boundaries, fairnessKey, priority, maxQueueMs, from: offerFrom } = ask;
  const scheduling = { cacheSalt, boundaries, fairnessKey, priority, maxQueueMs };
  return { ...plainAnswer, ...scheduling, id, prompt, maxTokens: 1, pooling: 'none', offerFrom };
}
