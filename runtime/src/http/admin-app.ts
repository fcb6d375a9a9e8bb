// The administration: what operators of the service may do to one replica, on a port and with keys of its own. Every
// action is logged with the key that asked for it.

import express, { type Express, type Request, type RequestHandler } from 'express';
import type { ConfiguredKey } from '@llmservice/crds';
import { presentedKey } from '@llmservice/crds/keys';
import { ApiError } from '../request/body/api-error.js';
import { invalidRequest } from '../request/body/violation.js';
import { errorHandler } from './routes/error-handler.js';
import type { NamedAdapter } from '../config/adapter-settings.js';
import { LoopTurns } from '../loop-turns.js';
import { BodyBudget } from './bodies/body-budget.js';
import { jsonBody } from './bodies/json-body.js';
import { recordRequests } from './access/request-record.js';
import type { RunningRequest, ServerParts } from './replica/server-parts.js';

/** What an administrator can do to the replica as a whole. */
export interface ReplicaControl {
  /** New requests are refused, running ones end, then the process does. */
  stop(): void;
  /**
   * @param uri null: the configured one
   * @throws FailureError, ApiError model_not_allowed, model_already_loaded; request_cancelled, draining: an unload or a
   * drain ended it
   */
  load(uri: string | null): Promise<void>;
  unload(): Promise<void>;
  /** @throws FailureError, ApiError model_not_allowed, model_not_ready, invalid_request */
  loadAdapter(adapter: NamedAdapter): Promise<void>;
  /** Resolves once no request uses it. @throws ApiError model_not_found, model_not_ready */
  unloadAdapter(name: string): Promise<void>;
}

export interface AdminParts {
  readonly server: ServerParts;
  readonly control: ReplicaControl;
  readonly keys: { find(presented: string): ConfiguredKey | null };
}

/** Of a body. */
const maxBytes = 65_536;

type Action = (request: Request) => Promise<object> | object;

/** An action, and the status of its answer. */
interface AdminRoute {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly status: number;
  readonly run: Action;
}

export function makeAdminApp(parts: AdminParts): Express {
  const { server, keys } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(recordRequests({ ...server, observers: [] }));
  app.use(onlyWithKey(keys));
  app.use(jsonBody(new BodyBudget(16 * maxBytes, maxBytes, server.now), new LoopTurns()));
  const routes = adminRoutes(parts);
  for (const { method, path, status, run } of routes) {
    app[method](path, async (request, response) => {
      const { adminKey } = response.locals as Locals;
      server.logger.info('administration', { route: path, key: adminKey, body: request.body as unknown });
      response.status(status).json(await run(request));
    });
  }
  const known = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`).join(', ');
  app.use(({ method, path }) => {
    throw ApiError.of('route_not_found', `there is no ${method} ${path} here; there are ${known}`);
  });
  app.use(errorHandler(server.logger));
  return app;
}

function adminRoutes({ server, control }: AdminParts): AdminRoute[] {
  const { lifecycle, running, now } = server;
  const post = (path: string, run: Action, status = 200): AdminRoute => ({
    method: 'post',
    path,
    status,
    run,
  });
  return [
    {
      method: 'get',
      path: '/admin/requests',
      status: 200,
      run: () => ({ requests: [...running].map((each) => describe(each, now())) }),
    },
    post('/admin/cancel', ({ body }) => {
      const isMeant = readSelection(body);
      const meant = [...running].filter(isMeant);
      const reason = ApiError.of('request_cancelled', 'an administrator of this replica ended the request');
      for (const { controller } of meant) controller.abort(reason);
      return { cancelled: meant.map(({ id }) => id) };
    }),
    post('/admin/cache/flush', () => {
      const { engine } = lifecycle.requireServing();
      const blocks = engine.stats?.blocksCached ?? 0;
      engine.flushCache();
      return { blocks };
    }),
    post(
      '/admin/drain',
      () => {
        control.stop();
        return { running: running.size };
      },
      202,
    ),
    post('/admin/model/load', async ({ body }) => {
      await control.load(readUri(body));
      return { state: lifecycle.health().state };
    }),
    post('/admin/model/unload', async () => {
      await control.unload();
      return { state: lifecycle.health().state };
    }),
    // As vLLM names them and their fields.
    post('/v1/load_lora_adapter', async ({ body }) => {
      const { lora_name, lora_path } = readTexts(body, ['lora_name', 'lora_path']);
      await control.loadAdapter({ name: lora_name, uri: lora_path });
      return { lora_name, lora_path };
    }),
    post('/v1/unload_lora_adapter', async ({ body }) => {
      const { lora_name } = readTexts(body, ['lora_name']);
      await control.unloadAdapter(lora_name);
      return { lora_name };
    }),
  ];
}

interface Locals {
  adminKey?: string;
}

function onlyWithKey(keys: AdminParts['keys']): RequestHandler {
  return (request, response, next) => {
    const presented = presentedKey(request.headers);
    const key = presented === null ? null : keys.find(presented);
    if (key === null) {
      const message = 'the administration asks for a key of its own: send it as Authorization: Bearer KEY';
      throw ApiError.of('invalid_api_key', message);
    }
    (response.locals as Locals).adminKey = key.id;
    next();
  };
}

function describe({ id, route, model, key, generations, startedAt }: RunningRequest, now: number): object {
  return { id, route, model, key, generations, seconds: Math.round(now - startedAt) / 1000 };
}

/** Which running requests a body means: those of an id, those of a key, or all. @throws ApiError invalid_request */
function readSelection(body: unknown): (request: RunningRequest) => boolean {
  const fields = Object.entries(body ?? {});
  const [[name, value] = ['', null]] = fields;
  if (fields.length === 1) {
    if (name === 'id' && typeof value === 'string') return ({ id }) => id === value;
    if (name === 'key' && typeof value === 'string') return ({ key }) => key === value;
    if (name === 'all' && value === true) return () => true;
  }
  const message = 'the body must be one of {"id": "ID OF A REQUEST"}, {"key": "ID OF A KEY"}, {"all": true}';
  throw invalidRequest([{ param: name, message }]);
}

/** The checkpoint that is to be loaded; null: the configured one. @throws ApiError invalid_request */
function readUri(body: unknown): string | null {
  const fields = Object.entries(body ?? {});
  const [[name, value] = ['', null]] = fields;
  if (fields.length === 0) return null;
  if (fields.length === 1 && name === 'uri' && typeof value === 'string') return value;
  throw invalidRequest([
    { param: name, message: 'the body must be empty or {"uri": "URI OF A CHECKPOINT"}' },
  ]);
}

/** Fields that must be texts, and the only ones. @throws ApiError invalid_request */
function readTexts<Name extends string>(body: unknown, names: readonly Name[]): Record<Name, string> {
  const fields = (body ?? {}) as Partial<Record<string, unknown>>;
  const wrong = names.filter((name) => typeof fields[name] !== 'string' || fields[name] === '');
  const others = Object.keys(fields).filter((name) => !(names as readonly string[]).includes(name));
  const violations = [
    ...wrong.map((param) => ({ param, message: `${param} must be a text` })),
    ...others.map((param) => ({
      param,
      message: `${param} is no field here; there are ${names.join(', ')}`,
    })),
  ];
  if (violations.length > 0) throw invalidRequest(violations);
  return fields as Record<Name, string>;
}
