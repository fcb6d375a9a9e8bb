// What watches the requests of one replica: the access log, and metrics of whole requests.

import type { RequestObserver } from './observe/ended-request.js';
import { accessLog } from './observe/access-line.js';
import type { Logger } from './log/logger.js';
import type { ServerMetrics } from './metrics/server-metrics.js';

export function observersOf(metrics: ServerMetrics, logger: Logger): readonly RequestObserver[] {
  return [accessLog(logger), (request) => metrics.requestEnded(request)];
}
