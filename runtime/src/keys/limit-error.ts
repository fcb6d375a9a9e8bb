// The answer to a request that a limit of its key refuses, counted.

import type { Limit, LimitRefusal } from '@llmservice/crds/keys';
import { ApiError } from '../request/body/api-error.js';

/** For `KeyBudgets`. */
export function limitError(metrics: {
  refused(key: string, limit: Limit): void;
}): (key: string, refusal: LimitRefusal) => ApiError {
  return (key, { limit, message, retryAfterSeconds }) => {
    metrics.refused(key, limit);
    return ApiError.of('rate_limit_exceeded', message, { retryAfterSeconds });
  };
}
