// Errors in the body that Anthropic's clients read, with the code and the field that every other route reports too.

import type { ApiError } from '../../request/body/api-error.js';

/** Their error type by status; other 4XX are invalid requests, other 5XX api_error. */
export const anthropicErrorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

interface AnthropicErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly param: string | null;
    readonly code: string;
  };
  readonly request_id: string | null;
}

/** @param requestId of the request's answer; null: it was refused before it got one */
export function anthropicError(
  { status, message, param, code }: ApiError,
  requestId: string | null,
): AnthropicErrorBody {
  const type = anthropicErrorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message, param, code }, request_id: requestId };
}
