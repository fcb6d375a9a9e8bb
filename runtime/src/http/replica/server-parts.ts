// What the routes share: one of each per process, made in main.

import { randomInt, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Request, Response } from 'express';
import type { UsedAdapter } from '../../schedule/generation.js';
import type { Logger } from '../../log/logger.js';
import type { LoopTurns } from '../../loop-turns.js';
import type { ServerMetrics } from '../../metrics/server-metrics.js';
import { ApiError } from '../../request/body/api-error.js';
import type { RecentErrors } from '../../observe/recent-errors.js';
import type { AccountedRequest, RequestAccount } from '../../keys/request-account.js';
import { openAccount, type Access } from '../access/access.js';
import type { Admission } from '../access/admission.js';
import type { Lifecycle } from './lifecycle.js';
import type { BatchService } from '../batches/batch-service.js';
import type { BodyBudget } from '../bodies/body-budget.js';
import { matchedRoute, recordOf, type RecordParts } from '../access/request-record.js';
import type { StoredResponses } from '../stored-responses/stored-responses.js';
import { notServed, type ModelNames } from './served-model.js';

export interface ServerParts extends RecordParts {
  readonly lifecycle: Lifecycle;
  readonly names: ModelNames;
  /** NAMESPACE/NAME; null: a replica of none. */
  readonly service: string | null;
  readonly admission: Admission;
  readonly access: Access;
  readonly metrics: ServerMetrics;
  readonly logger: Logger;
  readonly running: Set<RunningRequest>;
  readonly recentErrors: Pick<RecentErrors, 'errors'>;
  readonly bodies: BodyBudget;
  /** For long computations on the event loop. */
  readonly turns: LoopTurns;
  readonly maxConnections: number;
  /** Of web pages that may read answers; `*`: every one. */
  readonly corsOrigins: readonly string[];
  /** Null: no response is stored. */
  readonly storedResponses: StoredResponses | null;
  /** Null: no files are kept, and no batches run. */
  readonly batches: BatchService | null;
}

/** A request that is generating, or waits for its turn. */
export interface RunningRequest extends AccountedRequest {
  /** Id of the API key; null: it came without one. */
  readonly key: string | null;
  readonly generations: number;
  /** Monotonic, in milliseconds. */
  readonly startedAt: number;
  /** Aborted with an ApiError where the server ends it. */
  readonly controller: AbortController;
}

/**
 * Runs the part of a request that costs something, generating or not: admitted, accounted, listed for the drain, aborted
 * when the client goes away, unless it outlives the connection.
 * @param run gets what ends it, too
 * @throws ApiError queue_full, rate_limit_exceeded; why it was ended, if it was
 */
export async function whileAdmitted(
  parts: ServerParts,
  response: Response,
  request: AccountedRequest,
  generations: number,
  run: (signal: AbortSignal, account: RequestAccount, end: (reason: ApiError) => void) => Promise<void>,
  { outlivesConnection = false } = {},
): Promise<void> {
  const adapter = enterAdapter(parts.names, request.model);
  const account = openAccount(parts.access, request, response, adapter?.used ?? null);
  const controller = new AbortController();
  // Each generation listens; beyond ten Node would warn of a leak.
  setMaxListeners(0, controller.signal);
  const running = { ...request, key: account.keyId, generations, startedAt: parts.now(), controller };
  const gone = (): void => controller.abort(ApiError.of('request_aborted', 'the client went away'));
  let leave: (() => void) | null = null;
  try {
    leave = parts.admission.enter(generations, account.keyId);
    recordOf(response).admitted(request);
    parts.running.add(running);
    if (!outlivesConnection) response.once('close', gone);
    // Who went while the body was unpacked gets no answer any more.
    if (response.req.socket.destroyed) gone();
    await run(controller.signal, account, (reason) => controller.abort(reason));
  } catch (error) {
    account.refused(recordOf(response).bodyTokens);
    // What was ended fails in whatever it was at.
    const reason: unknown = controller.signal.reason;
    throw reason instanceof ApiError ? reason : error;
  } finally {
    response.off('close', gone);
    // Whatever of a request with several generations still runs, runs for nobody.
    controller.abort('the request has ended');
    parts.running.delete(running);
    leave?.();
    adapter?.leave();
    account.close();
  }
}

/**
 * The adapter that the name is of; null: the model's own name.
 * @throws ApiError model_not_found: the adapter was removed since the name was looked up
 */
function enterAdapter(
  names: ModelNames,
  model: string,
): { readonly used: UsedAdapter; readonly leave: () => void } | null {
  if (model === names.name || names.aliases.includes(model)) return null;
  return names.adapters.enter(model) ?? notServed(names, model);
}

export function newId(prefix: string): string {
  return prefix + randomUUID().replaceAll('-', '');
}

/** 64 bits. Node draws these, and those of `newId`, many at a time; eight bytes alone would be a system call. */
export function randomSeed(): bigint {
  return (BigInt(randomInt(2 ** 32)) << 32n) | BigInt(randomInt(2 ** 32));
}

/** The route of a request that a handler of a route answers, for logs. */
export function routeOf(request: Request): string {
  const route = matchedRoute(request);
  if (route === null) throw new Error('no route was matched');
  return route;
}
