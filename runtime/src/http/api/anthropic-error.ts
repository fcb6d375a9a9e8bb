// Errors in the body that Anthropic's clients read, with the code and the field that every other route reports too.

import { anthropicErrorType } from '@llmservice/crds';
import type { ApiError } from '../../request/body/api-error.js';

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

/** @param requestId of the request; null: it was refused before it got one */
export function anthropicError(
  { status, message, param, code }: ApiError,
  requestId: string | null,
): AnthropicErrorBody {
  const type = anthropicErrorType(status);
  return { type: 'error', error: { type, message, param, code }, request_id: requestId };
}
