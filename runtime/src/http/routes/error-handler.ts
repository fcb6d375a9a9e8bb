// Errors of routes as OpenAI's error body, or on the routes of other protocols as theirs. What is not a known error is logged whole
// and answered without its inside.

import { isAnthropicPath, isInferencePath } from '@llmservice/crds';
import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../log/logger.js';
import { ApiError } from '../../request/body/api-error.js';
import { anthropicError } from '../api/anthropic-error.js';
import { inferenceError } from '../api/inference-error.js';
import { asApiError } from '../generation/generation.js';
import { recordOf } from '../access/request-record.js';

export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const apiError = pathError(error) ?? asApiError(error);
    if (apiError.code === 'internal_error') logger.error('request failed', { error: describe(error) });
    recordOf(response).failed(apiError);
    if (response.destroyed) return;
    if (response.headersSent) {
      next(error);
      return;
    }
    if (apiError.retryAfterSeconds !== null)
      response.setHeader('retry-after', String(apiError.retryAfterSeconds));
    // Clients try a 409 again by themselves.
    if (apiError.code === 'request_cancelled') response.setHeader('x-should-retry', 'false');
    if (apiError.code === 'invalid_api_key') response.setHeader('www-authenticate', 'Bearer');
    const id = response.getHeader('request-id')?.toString() ?? null;
    response.status(apiError.status);
    if (isInferencePath(request.path)) {
      // KServe's client reads the text of exactly this type, to which express would add the character set.
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(inferenceError(apiError)));
      return;
    }
    response.json(isAnthropicPath(request.path) ? anthropicError(apiError, id) : apiError.body);
  };
}

/** Of express's router: a path with % before what is no character. */
function pathError(error: unknown): ApiError | null {
  if (!(error instanceof URIError)) return null;
  return ApiError.of('invalid_request', `the path cannot be read: ${error.message}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
