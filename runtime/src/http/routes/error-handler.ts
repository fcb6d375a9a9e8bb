// Errors of routes as OpenAI's error body, or as Anthropic's on its own routes. What is not a known error is logged whole
// and told without its inside.

import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../log/logger.js';
import { ApiError } from '../../request/body/api-error.js';
import { anthropicError } from '../api/anthropic-error.js';
import { asApiError } from '../generation/generation.js';
import { recordOf } from '../access/request-record.js';
import { isAnthropicPath } from '../api/route-table.js';

/** Errors of express's own body reader. */
interface BodyError extends Error {
  readonly type?: string;
  readonly status?: number;
  readonly limit?: number;
  readonly length?: number;
}

export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const told = bodyError(error as BodyError) ?? asApiError(error);
    if (told.code === 'internal_error') logger.error('request failed', { error: describe(error) });
    recordOf(response).failed(told);
    if (response.destroyed) return;
    if (response.headersSent) {
      next(error);
      return;
    }
    if (told.retryAfterSeconds !== null) response.setHeader('retry-after', String(told.retryAfterSeconds));
    // Clients try a 409 again by themselves.
    if (told.code === 'request_cancelled') response.setHeader('x-should-retry', 'false');
    if (told.code === 'invalid_api_key') response.setHeader('www-authenticate', 'Bearer');
    const id = response.getHeader('request-id')?.toString() ?? null;
    response.status(told.status).json(isAnthropicPath(request.path) ? anthropicError(told, id) : told.body);
  };
}

function bodyError(error: BodyError): ApiError | null {
  const { type, status = 500, limit, length, message } = error;
  // Of express's router: a path with % before what is no character.
  if (error instanceof URIError) return ApiError.of('invalid_request', `the path cannot be read: ${message}`);
  switch (type) {
    case 'entity.too.large':
      return ApiError.of(
        'request_too_large',
        `the body has ${length === undefined ? 'more' : String(length)} bytes, and the limit is ${String(limit)}`,
      );
    case 'entity.parse.failed':
      return ApiError.of('invalid_request', `the body is not JSON: ${message}`);
    case 'request.aborted':
      return ApiError.of('request_aborted', 'the client went away');
    case 'body.refused':
    case 'encoding.unsupported':
    case 'charset.unsupported':
    case 'request.size.invalid':
      return ApiError.of('invalid_request', message);
    default:
      // What decompresses the body has no types.
      return !(error instanceof ApiError) && status >= 400 && status < 500
        ? ApiError.of('invalid_request', `the body cannot be read: ${message}`)
        : null;
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
