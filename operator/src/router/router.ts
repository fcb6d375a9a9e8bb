// Takes requests for many models at one address: the model of the body says which service answers, or which answers instead.
// Bodies are bounded and kept until a service has begun to answer; answers are passed on as they come.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfiguredKey } from '@llmservice/crds';
import { Refusal } from '../activator/activator-error.js';
import { refuse } from '../activator/held-request.js';
import { readBody, type Room } from '../activator/read-body.js';
import type { ModelRoute } from '../domain/route-table.js';
import { forward, type Forwarding, type Outcome } from './forward.js';
import { KeptBytes, type BodyLimits } from './kept-bytes.js';
import type { KeyLimits } from './key-limits.js';
import type { KnownKeys } from './known-keys.js';
import { describeModel, listModels } from './model-list.js';
import { maxMembers, modelOfBody } from './model-of-body.js';
import { routedPath, type RoutedModel } from './routed-paths.js';
import { RouterError } from './router-error.js';
import { cutWhereSlow } from './slow-body.js';
import type { RouterAccounting } from './router-accounting.js';
import type { RouterMetrics } from './router-metrics.js';
import type { RoutingTable } from './routing-table.js';
import type { ServiceAddresses } from './service-addresses.js';

export interface RouterOptions {
  readonly table: () => RoutingTable;
  /** Null: keys are not asked for. */
  readonly keys: () => KnownKeys | null;
  readonly addresses: Pick<ServiceAddresses, 'lookup'>;
  /** Of keys, where they are asked for. */
  readonly keyLimits: KeyLimits;
  /** Null: nowhere is it written what requests took. */
  readonly accounting: Pick<RouterAccounting, 'ended'> | null;
  readonly metrics: Pick<RouterMetrics, 'ended' | 'refused' | 'sent' | 'used'>;
  /** Of one body, and of all that are kept; of these a key has a quarter, and one body in any case. */
  readonly limits: BodyLimits;
}

/** For replicas to say what answers that were cut off took. */
const countMs = 2_000;
const nothing = Buffer.alloc(0);

type Failed = Exclude<Outcome, 'answered' | 'busy'>;

export class Router {
  private readonly active = new Set<ServerResponse>();
  /** Requests whose last token is not counted: an answer ends before. */
  private uncounted = 0;
  private readonly kept: KeptBytes;
  private draining = false;

  constructor(private readonly options: RouterOptions) {
    this.kept = new KeptBytes(options.limits);
  }

  /** Requests that are not answered to their end. */
  get open(): number {
    return this.active.size;
  }

  /** Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.active.add(response);
    this.uncounted += 1;
    response.once('close', () => this.active.delete(response));
    if (this.draining) response.setHeader('connection', 'close');
    const requestId = nameOf(request.headers['x-request-id']) ?? randomUUID();
    response.setHeader('x-request-id', requestId);
    try {
      await this.route(request, response, requestId);
    } catch (error) {
      // Else the client went away within its body.
      if (!(error instanceof Refusal)) return void response.destroy();
      this.options.metrics.refused(error.code);
      refuse(request, response, error);
    } finally {
      this.uncounted -= 1;
    }
  }

  /** Answers what is open, for so long, and counts it; connections end with their answers. */
  async drain(answersMs: number): Promise<void> {
    this.draining = true;
    for (const response of this.active) if (!response.headersSent) response.setHeader('connection', 'close');
    const deadline = performance.now() + answersMs;
    while (this.active.size > 0 && performance.now() < deadline) await sleep(50);
    for (const response of this.active) response.destroy();
    const counted = performance.now() + countMs;
    while (this.uncounted > 0 && performance.now() < counted) await sleep(50);
  }

  private async route(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const path = routedPath(method, url);
    if (path.kind === 'health') {
      json(response, { state: this.draining ? 'draining' : 'serving' });
      return;
    }
    if (path.kind === 'unknown') throw unknownRoute(method, url);
    const key = this.keyOf(request);
    if (path.kind === 'otherMethod') {
      response.setHeader('allow', path.allow);
      throw new RouterError('method_not_allowed', `${url} takes ${path.allow}, not ${method}`);
    }
    const table = this.options.table();
    if (path.kind === 'list') json(response, listModels(table.visible(key)));
    else if (path.kind === 'retrieve') {
      const route = table.find(path.name, key);
      if (route === null) throw unknownModel(path.name, table, key);
      json(response, describeModel(path.name, route));
    } else await this.send(request, response, requestId, key, path);
  }

  private async send(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    uploader: ConfiguredKey | null,
    { path, generates }: RoutedModel,
  ): Promise<void> {
    const { keyLimits, metrics, accounting } = this.options;
    if (uploader !== null) keyLimits.requireAny(uploader, response);
    const forwarding = await this.take(request, response, requestId, this.kept.roomOf(uploader));
    try {
      if (response.destroyed) return;
      // Those of now: they may have changed while the body came.
      const key = this.keyOf(request);
      const table = this.options.table();
      const route = table.find(forwarding.model, key);
      if (route === null) throw unknownModel(forwarding.model, table, key);
      const order = table.inOrder(route, key);
      if (key === null && accounting === null) {
        await this.sendInOrder(forwarding, route, order);
        return;
      }
      const charge = keyLimits.begin(key, forwarding.body, generates, response);
      forwarding.charge = charge;
      try {
        await this.sendInOrder(forwarding, route, order);
      } finally {
        charge.close();
        if (key !== null) metrics.used(key.id, route.name, charge);
        const ended = { id: requestId, key: key?.id ?? null, path, model: route.name };
        accounting?.ended({ ...ended, generates, charge, response });
      }
    } finally {
      forwarding.onBegun();
    }
  }

  /** Null: keys are not asked for. @throws RouterError invalid_api_key */
  private keyOf({ headers }: IncomingMessage): ConfiguredKey | null {
    return this.options.keys()?.require(headers) ?? null;
  }

  /** The body's room is taken until a service has begun to answer. */
  private async take(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    room: Room,
  ): Promise<Forwarding> {
    const { limits, addresses, metrics } = this.options;
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
    const done = cutWhereSlow(request, response, limits.slowest);
    const body = await readBody(request, room, limits.bodyBytes).finally(done);
    const completeAt = performance.now();
    const forwarding = {
      ...{ request, response, body, requestId, addresses, model: '', charge: null },
      onSent: () => metrics.sent(performance.now() - completeAt),
      onBegun: () => {
        room.giveBytes(forwarding.body.byteLength);
        forwarding.body = nothing;
      },
    };
    try {
      forwarding.model = nameIn(body);
      return forwarding;
    } catch (error) {
      forwarding.onBegun();
      throw error;
    }
  }

  private async sendInOrder(
    forwarding: Forwarding,
    route: ModelRoute,
    order: readonly ModelRoute[],
  ): Promise<void> {
    const { metrics } = this.options;
    let failed: Failed = 'unreached';
    for (const [index, each] of order.entries()) {
      const instead = each === route ? null : each.service;
      const outcome = await forward(forwarding, each, instead, index === order.length - 1);
      if (outcome === 'answered') {
        const { statusCode, writableFinished } = forwarding.response;
        const ended = !writableFinished ? 'gone' : statusCode < 500 ? 'answered' : 'error';
        metrics.ended(route.name, instead === null ? ended : `fallback_${ended}`);
        return;
      }
      if (outcome !== 'busy') failed = outcome;
      // What has been taken may have been begun: it is not begun twice.
      if (outcome === 'failed') break;
    }
    metrics.ended(route.name, failed);
    throw notAnswered(failed, route);
  }
}

function nameIn(body: Buffer): string {
  const model = modelOfBody(body);
  if (model.state === 'named') return model.name;
  if (model.state === 'encoded') {
    const message = 'the body must be JSON in UTF-8, without a byte order mark';
    throw new RouterError('invalid_request', message);
  }
  if (model.state === 'crowded') {
    const message = `the body has more than ${String(maxMembers)} members at its top: requests have some dozens`;
    throw new RouterError('invalid_request', message);
  }
  const message =
    model.state === 'absent'
      ? 'the body must be a JSON object with model: GET /v1/models lists the names'
      : 'model must be a text, the name of a model: GET /v1/models lists them';
  throw new RouterError('invalid_request', message, null, 'model');
}

function notAnswered(failed: Failed, { name, service }: ModelRoute): RouterError {
  if (failed === 'unreached') {
    const message = `no pod of ${service} is there for the model ${name}: try again later`;
    return new RouterError('model_not_ready', message, 10);
  }
  if (failed === 'unverified') {
    const message = `${service} shows no certificate by the authorities that its tls.caConfigMapRef names, for the name of its Service`;
    return new RouterError('upstream_unverified', message, 10);
  }
  return new RouterError('upstream_failed', `${service} ended before it had answered: try again`, 1);
}

function unknownModel(asked: string, table: RoutingTable, key: ConfiguredKey | null): RouterError {
  const shown = JSON.stringify(asked.length > 100 ? `${asked.slice(0, 100)}…` : asked);
  const message = `the model ${shown} does not exist here; ${table.suggestions(asked, key)}`;
  return new RouterError('model_not_found', message, null, 'model');
}

function unknownRoute(method: string, url: string): RouterError {
  const path = url.split('?', 1).join().slice(0, 200);
  return new RouterError(
    'route_not_found',
    `the gateway has no route ${method} ${path}: it takes requests that name a model; what a service has stored ` +
      '(responses, conversations, files, batches) is asked of that service',
  );
}

function tooLarge(bodyBytes: number): RouterError {
  return new RouterError('request_too_large', `the body has more than ${String(bodyBytes)} bytes`);
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** A client's own name of its request, where it is one that logs can hold. */
function nameOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[\x21-\x7e]{1,128}$/.test(header) ? header : null;
}
