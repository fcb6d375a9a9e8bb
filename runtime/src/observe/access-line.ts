// One line of the process's log per request: who asked for what, how long each part took, how it ended. Never a text.

import type { Logger } from '../log/logger.js';
import type { EndedRequest, RequestObserver } from './ended-request.js';
import { lengthOf, phasesOf, tokensPerSecond, totalUsage } from './request-totals.js';

export function accessLog(logger: Logger): RequestObserver {
  return (request) => {
    if (request.admitted) logger.info('request finished', accessLine(request));
    else logger.info('request refused', refusalLine(request));
  };
}

/** Times in milliseconds; null where the request ended before that part. */
export function accessLine(request: EndedRequest): object {
  const { generations } = request;
  const { queue, prefill, decode } = phasesOf(generations);
  return {
    ...refusalLine(request),
    stream: generations.some(({ stream }) => stream),
    finishReasons: generations.map(({ finishReason }) => finishReason),
    ...totalUsage(generations),
    queueMs: lengthOf(queue),
    prefillMs: lengthOf(prefill),
    decodeMs: lengthOf(decode),
    tokensPerSecond: tokensPerSecond(generations),
  };
}

function refusalLine({ arrivedAt, endedAt, ...request }: EndedRequest): object {
  const { id, clientRequestId, route, model, key, status, errorCode } = request;
  const totalMs = lengthOf({ from: arrivedAt, to: endedAt });
  return { id, clientRequestId, route, model, key, status, errorCode, totalMs };
}
