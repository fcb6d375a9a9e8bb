// The work of routes that read or make a text and generate nothing: admitted, budgeted, listed and accounted as a
// generation is, and with a deadline, since it has no queue whose time a client could bound.

import type { Request, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { nameAnswer } from '../access/request-record.js';
import { sendJson } from '../replica/send-json.js';
import { newId, routeOf, whileAdmitted, type ServerParts } from '../replica/server-parts.js';
import type { ServedModel } from '../replica/served-model.js';

/** Several times what the longest text takes that a context has room for. */
const deadlineMs = 60_000;

export interface TextWork {
  readonly model: ServedModel;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Gets how many tokens the text has, once it is known. */
  readonly spend: (tokens: number) => void;
}

/**
 * @param run makes the answer's body
 * @throws ApiError queue_full, rate_limit_exceeded, server_busy; what `run` throws
 */
export function answerText(
  parts: ServerParts,
  request: Request,
  response: Response,
  run: (work: TextWork) => Promise<object>,
): Promise<void> {
  return parts.lifecycle.withModel(async (model) => {
    const accounted = { id: newId('text-'), route: routeOf(request), model: parts.names.name };
    nameAnswer(response, accounted.id);
    await whileAdmitted(parts, response, accounted, 1, async (signal, account) => {
      const spend = (tokens: number): void => account.spendText(tokens);
      const body = await withDeadline(signal, (bounded) => run({ model, signal: bounded, spend }));
      await sendJson(response, body, parts.turns, signal);
    });
  });
}

async function withDeadline<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const ended = AbortSignal.any([signal, late.signal]);
  const timer = setTimeout(() => {
    const message = `the text was not read within ${String(deadlineMs / 1000)} s: send it in parts, or again later`;
    late.abort(ApiError.of('server_busy', message, { retryAfterSeconds: 1 }));
  }, deadlineMs);
  try {
    return await Promise.race([run(ended), aborted(ended)]);
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
