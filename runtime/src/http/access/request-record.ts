// The record of one request while it is served: begun by the first middleware, filled by what handles it, and reported to the
// observers once, when the response is closed and nothing of the request runs any more. Every answer is counted when it is closed,
// also one to a request that is refused before anything else is known of it.

import { nothingUsed, type UsageReport } from '@llmservice/crds/keys';
import type { Request, RequestHandler, Response } from 'express';
import type { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';
import { maxRequestName } from '../../request/fields/scheduling.js';
import type { AccountedRequest } from '../../keys/request-account.js';
import type { Answer } from '../../metrics/http-metrics.js';
import type { EndedRequest, FinishedGeneration, RequestObserver } from '../../observe/ended-request.js';
import type { Logger } from '../../log/logger.js';
import { routeAt } from '../api/unknown-route.js';

/** Who gets the record, and what it holds. */
export interface RecordParts {
  /** Called for every request that was let in to generate, or refused. */
  readonly observers: readonly RequestObserver[];
  /** Whether they want prompts and answers too. */
  readonly keepsTexts: boolean;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Of answers: the client's own name of its request where it sent one, and ours where it did not. */
const requestIdHeader = 'x-request-id';

/** Of a body, for each token that its text may have had. */
const bytesPerToken = 4;

interface Locals {
  record?: RequestRecord;
}

/** @param answered is called for every answer, whatever it answers */
export function recordRequests(
  parts: RecordParts,
  answered: (answer: Answer) => void = () => undefined,
): RequestHandler {
  return (request, response, next) => {
    (response.locals as Locals).record = new RequestRecord(parts, request, response, answered);
    const asked = request.get(requestIdHeader);
    if (isRequestName(asked)) response.setHeader(requestIdHeader, asked);
    next();
  };
}

/** Of a response that went through `recordRequests`. */
export function recordOf(response: Response): RequestRecord {
  const { record } = response.locals as Locals;
  if (record === undefined) throw new Error('the response has no record: recordRequests must come first');
  return record;
}

/** The answer's id, as a header. */
export function nameAnswer(response: Response, id: string): void {
  if (!response.hasHeader(requestIdHeader)) response.setHeader(requestIdHeader, id);
}

/** The route as express has it, for logs: a path without names in it; null: none matched. */
export function matchedRoute(request: Request): string | null {
  const route = request.route as { readonly path: string } | undefined;
  return route?.path.replaceAll('\\', '') ?? null;
}

function clientRequestId(request: Request): string | null {
  const { request_id, rid } = (request.body ?? {}) as Fields;
  return [request.get(requestIdHeader), request_id, rid].find(isRequestName) ?? null;
}

/** The route as the table writes it; null: there is no such route. */
function tableRoute(request: Request): string | null {
  const matched = matchedRoute(request);
  // A request may be refused before a route was looked for.
  if (matched === null) return routeAt(request.method, request.path);
  return matched.replaceAll(/\/:(\w+)/g, '/{$1}');
}

const isRequestName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= maxRequestName;

export class RequestRecord {
  readonly #parts: RecordParts;
  readonly #request: Request;
  readonly #response: Response;
  readonly #arrivedAt: number;
  readonly #arrivedAtMs = Date.now();
  #generations: readonly FinishedGeneration[] = [];
  #accounted: AccountedRequest | null = null;
  #key: string | null = null;
  #errorCode: string | null = null;
  #bodyBytes = 0;
  /** Whether something of it may still run. */
  #open = false;
  #closed = false;
  #used: () => UsageReport = () => nothingUsed;

  constructor(parts: RecordParts, request: Request, response: Response, answered: (answer: Answer) => void) {
    this.#parts = parts;
    this.#request = request;
    this.#response = response;
    this.#arrivedAt = parts.now();
    response.once('close', () => {
      this.#closed = true;
      // Who went before its answer began got none.
      if (response.headersSent) answered(this.#answer());
      this.#report();
    });
  }

  /** Whether prompts and answers are wanted. */
  get keepsTexts(): boolean {
    return this.#parts.keepsTexts;
  }

  /** Id of the API key; null: none was asked for, or none was recognised. */
  get key(): string | null {
    return this.#key;
  }

  /** As many as the text of its body may have had. */
  get bodyTokens(): number {
    return Math.ceil(this.#bodyBytes / bytesPerToken);
  }

  /** Whether it was refused without having been let in. */
  get isRefused(): boolean {
    return this.#errorCode !== null && this.#accounted === null;
  }

  /** What it took until now. What reading a body costs that is no request counts as a text. */
  get used(): UsageReport {
    return this.isRefused ? { ...nothingUsed, textTokens: this.bodyTokens } : this.#used();
  }

  /** @param used what its account has until now */
  counts(used: () => UsageReport): void {
    this.#used = used;
  }

  keyed(id: string): void {
    this.#key = id;
  }

  /** Its body has so many bytes, unpacked. */
  read(bodyBytes: number): void {
    this.#bodyBytes = bodyBytes;
  }

  /** It is let in to generate; `settled` follows. */
  admitted(request: AccountedRequest): void {
    this.#accounted = request;
    this.#open = true;
  }

  /** Nothing of it runs any more. */
  settled(generations: readonly FinishedGeneration[]): void {
    this.#generations = generations;
    this.#open = false;
    this.#report();
  }

  failed({ code }: ApiError): void {
    this.#errorCode ??= code;
  }

  #report(): void {
    const isReported = this.#accounted !== null || this.#errorCode !== null;
    if (!this.#closed || this.#open || !isReported) return;
    const ended = this.#ended();
    for (const observe of this.#parts.observers) {
      try {
        observe(ended);
      } catch (error) {
        this.#parts.logger.error('a request could not be logged', { id: ended.id, error: String(error) });
      }
    }
  }

  #answer(): Answer {
    const { method } = this.#request;
    const { statusCode: status } = this.#response;
    const seconds = (this.#parts.now() - this.#arrivedAt) / 1000;
    return { route: matchedRoute(this.#request), method, status, seconds };
  }

  #ended(): EndedRequest {
    const request = this.#request;
    const failed = this.#generations.find(({ errorCode }) => errorCode !== null);
    return {
      id: this.#accounted?.id ?? null,
      clientRequestId: clientRequestId(request),
      route: tableRoute(request),
      model: this.#accounted?.model ?? null,
      key: this.#key,
      status: this.#response.headersSent ? this.#response.statusCode : null,
      errorCode: this.#errorCode ?? failed?.errorCode ?? null,
      admitted: this.#accounted !== null,
      generations: this.#generations,
      arrivedAtMs: this.#arrivedAtMs,
      arrivedAt: this.#arrivedAt,
      endedAt: this.#parts.now(),
      traceContext: {
        traceparent: request.get('traceparent') ?? null,
        tracestate: request.get('tracestate') ?? null,
      },
      body: this.keepsTexts ? (request.body as unknown) : undefined,
    };
  }
}
