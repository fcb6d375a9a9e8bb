// Asks a service for its paced events through its public route, and notes when each one comes.

import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { fieldManager, headers, routes } from '@llmservice/crds';
import type { Arrival } from '../plan/traffic/stream-check.js';

const timeoutMs = 10_000;
/** Many times what our events take. */
const maxBytes = 64 * 1024;

export interface AskedRoute {
  readonly host: string;
  /** Empty: none. */
  readonly pathPrefix: string;
  /** NAMESPACE/NAME of the service that has to answer. */
  readonly service: string;
}

/**
 * @param entrance URL of the gateway, without a path
 * @throws Error where nothing answers, or something else does
 */
export async function askStream(
  entrance: string,
  { host, pathPrefix, service }: AskedRoute,
): Promise<Arrival[]> {
  const url = new URL(`${pathPrefix}${routes.streamCheck}`, entrance);
  const options: https.RequestOptions = {
    method: 'POST',
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      host,
      accept: 'text/event-stream',
      'content-length': 0,
      'user-agent': fieldManager,
      [headers.service]: service,
    },
  };
  const request =
    url.protocol === 'https:'
      ? // By its address the gateway has no certificate; nothing is sent that must stay secret.
        https.request(url, { ...options, servername: host, rejectUnauthorized: false })
      : http.request(url, options);
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  try {
    const { statusCode = 0 } = response;
    if (statusCode !== 200) throw new Error(`${routes.streamCheck} is answered with ${String(statusCode)}`);
    const other = response.headers[headers.fallback];
    // Whoever answers may have written it: its words are not passed on.
    if (other !== undefined) throw new Error('the gateway still leads to a fallback');
    return await readArrivals(response, service);
  } finally {
    request.destroy();
  }
}

async function readArrivals(response: http.IncomingMessage, service: string): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  let rest = '';
  let characters = 0;
  response.setEncoding('utf8');
  for await (const chunk of response as AsyncIterable<string>) {
    const atMs = performance.now();
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    // Events of ours that never end would be kept one by one.
    characters += chunk.length;
    if (characters > maxBytes) break;
    for (const event of events) {
      const { of, sent_ms: sentMs, service: answering } = parseData(event);
      if (typeof sentMs !== 'number' || typeof of !== 'number') continue;
      if (answering !== service) {
        throw new Error('another service answers, or a pod of a version that does not say which it is of');
      }
      arrivals.push({ sentMs, atMs });
      if (arrivals.length >= of && of > 1) return arrivals;
    }
  }
  throw new Error(`${routes.streamCheck} is answered with something else than its events`);
}

function parseData(event: string): { of?: unknown; sent_ms?: unknown; service?: unknown } {
  try {
    const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '') as unknown;
    return typeof data === 'object' && data !== null ? data : {};
  } catch {
    return {};
  }
}
