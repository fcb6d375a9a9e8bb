// What is wrong with a body, field by field, and the one 400 that lists it.

import { ApiError } from './api-error.js';

/** One thing that is wrong, and the field that it is about. */
export interface Violation {
  readonly param: string;
  readonly message: string;
}

/** Violations that a 400 lists; of more it says how many. */
const maxReported = 20;

export const violationAt = (param: string, message: string): Violation => ({
  param,
  message: `${param} ${message}`,
});

/** Those that a 400 lists of what may be millions. */
export function firstOf(violations: Iterable<Violation>): Violation[] {
  const first: Violation[] = [];
  for (const violation of violations) {
    first.push(violation);
    if (first.length === maxReported) break;
  }
  return first;
}

/** One 400 for all that is wrong; `param` is the first. */
export function invalidRequest(violations: readonly Violation[]): ApiError {
  const messages = [...new Set(violations.map(({ message }) => message))];
  const more = messages.length - maxReported;
  const reported = [...messages.slice(0, maxReported), ...(more > 0 ? [`and ${String(more)} more`] : [])];
  return ApiError.of('invalid_request', reported.join('; '), { param: violations[0]?.param ?? null });
}
