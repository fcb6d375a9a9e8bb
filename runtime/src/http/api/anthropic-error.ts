// Errors in the body that Anthropic's clients read, with the code and the field that every other route reports too.

import { anthropicErrorType } from '@llmservice/crds';
import type { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';

interface AnthropicErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly param: string | null;
    readonly code: string;
    readonly details?: Fields;
  };
  readonly request_id: string | null;
}

/** @param requestId of the request; null: it was refused before it got one */
export function anthropicError(
  { status, message, param, code, details }: ApiError,
  requestId: string | null,
): AnthropicErrorBody {
  const type = anthropicErrorType(status);
  const error = { type, message, param, code, ...(details === null ? {} : { details }) };
  return { type: 'error', error, request_id: requestId };
}
