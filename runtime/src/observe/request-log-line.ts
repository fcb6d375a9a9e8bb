// A request as a line of the request log: what the access log has, its time, and its texts where they are kept.

import { accessLine } from './access-line.js';
import type { EndedRequest } from './ended-request.js';

export function requestLogLine(request: EndedRequest): object {
  const { arrivedAtMs, body, generations } = request;
  const time = new Date(arrivedAtMs).toISOString();
  const texts = body === undefined ? {} : { request: body, answers: generations.map(({ answer }) => answer) };
  return { time, ...accessLine(request), ...texts };
}
