// OpenAI's headers of a limit, by which clients pace themselves.

import type { RateLimit } from './key-budget.js';

export const remainingHeader = 'x-ratelimit-remaining-tokens';

export function rateLimitHeaders({
  limit,
  remaining,
  resetSeconds,
}: RateLimit): Readonly<Record<string, string>> {
  return {
    'x-ratelimit-limit-tokens': String(limit),
    [remainingHeader]: String(remaining),
    'x-ratelimit-reset-tokens': `${String(resetSeconds)}s`,
  };
}
