// Who may use the server: every route but health needs a key where there are keys, /metrics only where that is said.

import { healthPaths, routes, streamCheckPaths, type ConfiguredKey } from '@llmservice/crds';
import {
  presentedKey,
  rateLimitHeaders,
  type KeyBudgets,
  type Moment,
  type RateLimit,
} from '@llmservice/crds/keys';
import type { Request, RequestHandler, Response } from 'express';
import type { AccountingLog } from '@llmservice/crds/accounting';
import { RequestAccount, type AccountedRequest } from '../../keys/request-account.js';
import type { UsedAdapter } from '../../schedule/generation.js';
import type { KeyMetrics } from '../../metrics/key-metrics.js';
import { ApiError } from '../../request/body/api-error.js';
import type { Admission } from './admission.js';
import { recordOf } from './request-record.js';

/** The keys as they are now. */
interface Keys {
  find(presented: string): ConfiguredKey | null;
  withId(id: string): ConfiguredKey | null;
}

export interface Access {
  /** Null: no key is asked for. */
  readonly keys: Keys | null;
  readonly protectMetrics: boolean;
  /** The lowest that a request may ask for where no key is asked for. */
  readonly mostUrgentPriority: number;
  readonly budgets: KeyBudgets;
  readonly metrics: KeyMetrics;
  /** Null: none is written. */
  readonly log: Pick<AccountingLog, 'add'> | null;
  readonly clock: () => Moment;
  /** Accounts of requests of which something may still run: their lines are still to come. */
  readonly open: Set<RequestAccount>;
}

/** The page, which asks for a key itself where it needs one. */
const pagePaths: readonly string[] = ['/ui', '/ui/'];

/** @throws ApiError invalid_api_key */
export function authenticate({ keys, protectMetrics, metrics }: Access): RequestHandler {
  // The kubelet's probes and the operator have no key. A list of the exceptions: what is added later is protected.
  const open = new Set<string>([
    ...healthPaths,
    ...streamCheckPaths,
    ...pagePaths,
    ...(protectMetrics ? [] : [routes.metrics]),
  ]);
  return (request, response, next) => {
    if (keys === null || open.has(request.path)) {
      next();
      return;
    }
    recordOf(response).keyed(requireKey(keys, metrics, request).id);
    next();
  };
}

/**
 * Refuses before its body is read what would be refused after it anyway: of a key that has used up its budgets, or where
 * there is no room for one more.
 * @throws ApiError rate_limit_exceeded, queue_full, invalid_api_key
 */
export function refuseEarly(access: Access, admission: Pick<Admission, 'requireRoom'>): RequestHandler {
  const { keys, budgets, metrics, clock } = access;
  return (request, response, next) => {
    const key = keys === null ? null : requireKey(keys, metrics, request);
    if (key !== null) {
      const now = clock();
      const budget = budgets.of(key, now);
      const limit = budget.rateLimit(now);
      if (limit !== null) setRateLimitHeaders(response, limit);
      budget.requireAny(now);
      response.once('close', () => {
        // What reading a body costs that is no request is the key's too.
        const { isRefused, bodyTokens } = recordOf(response);
        if (isRefused) budget.spendText(bodyTokens, clock());
      });
    }
    admission.requireRoom(1, key?.id ?? null);
    next();
  };
}

/**
 * The account of a request that was let in. Keys may have changed since, while its body came.
 * @throws ApiError rate_limit_exceeded, invalid_api_key
 */
export function openAccount(
  access: Access,
  request: AccountedRequest,
  response: Response,
  adapter: UsedAdapter | null,
): RequestAccount {
  const { keys, budgets, metrics, log, clock, mostUrgentPriority } = access;
  const key = keys === null ? null : requireKey(keys, metrics, response.req);
  const record = recordOf(response);
  const account = new RequestAccount(
    { ...request, adapter },
    key === null ? null : { key, budget: budgets.of(key, clock()) },
    {
      keepsTexts: record.keepsTexts,
      mostUrgentPriority,
      settled: (generations) => {
        access.open.delete(account);
        record.settled(generations);
      },
      generated: (id, tokens) => metrics.generated(id, tokens),
      finished: (used) => {
        // Without keys and a log nobody wants the record.
        if (key === null && log === null) return;
        const record = used();
        if (key !== null) metrics.finished(key.id, record);
        log?.add(record);
      },
    },
    clock,
    (limit) => setRateLimitHeaders(response, limit),
  );
  access.open.add(account);
  record.counts(() => account.used);
  return account;
}

/** Headers that say who is asked, or who asks. */
const single = ['host', 'authorization', 'x-api-key'];

/**
 * Refuses requests that have one of these headers twice: a proxy before this server may have gone by the other one. RFC
 * 9112, section 3.2, says so of Host.
 * @throws ApiError invalid_request
 */
export const requireSingleHeaders: RequestHandler = ({ rawHeaders }, _response, next) => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const doubled = single.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (doubled !== undefined)
    throw ApiError.of('invalid_request', `the request has the header ${doubled} more than once: send one`);
  next();
};

/** Whether a route that is open to all may show the request everything: it has a key, or none is asked for. */
export function isTrusted({ keys, metrics }: Access, request: Request): boolean {
  if (keys === null) return true;
  const presented = presentedKey(request.headers);
  if (presented === null) return false;
  if (keys.find(presented) !== null) return true;
  metrics.unauthorized();
  return false;
}

/** @throws ApiError invalid_api_key */
function requireKey(keys: Keys, metrics: KeyMetrics, request: Request): ConfiguredKey {
  const presented = presentedKey(request.headers);
  const key = presented === null ? null : keys.find(presented);
  if (key !== null) return key;
  metrics.unauthorized();
  throw refusal(presented);
}

function refusal(presented: string | null): ApiError {
  const message =
    presented === null
      ? 'this server asks for an API key: send it as the header Authorization: Bearer KEY, or x-api-key: KEY'
      : 'the API key is not known here: check that it is whole, and that it was not withdrawn';
  return ApiError.of('invalid_api_key', message);
}

function setRateLimitHeaders(response: Response, limit: RateLimit): void {
  if (!response.headersSent) response.set(rateLimitHeaders(limit));
}
