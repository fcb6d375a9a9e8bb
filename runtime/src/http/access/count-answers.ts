// Counts answers for the metrics, also those to requests that are refused before anything else is known of them.

import type { Request, RequestHandler } from 'express';
import type { Answer } from '../../metrics/http-metrics.js';

/** @param now monotonic, in milliseconds */
export function countAnswers(answered: (answer: Answer) => void, now: () => number): RequestHandler {
  return (request, response, next) => {
    const arrivedAt = now();
    response.once('close', () => {
      // Who went before its answer began got none.
      if (!response.headersSent) return;
      const { method } = request;
      const { statusCode: status } = response;
      answered({ route: routeOf(request), method, status, seconds: (now() - arrivedAt) / 1000 });
    });
    next();
  };
}

function routeOf(request: Request): string | null {
  const route = request.route as { readonly path: string } | undefined;
  return route?.path.replaceAll('\\', '') ?? null;
}
