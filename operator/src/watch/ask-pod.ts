// Questions to a pod's own server, by its address.

import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { ports, runtimeContainer } from '@llmservice/crds';
import type { Pod } from '../kube/types.js';
import type { Scheme } from '../plan/pods/container-parts.js';

const timeoutMs = 2_000;
/** Of an answer's text: thousands of series fit. */
const maxMetricsBytes = 4 * 2 ** 20;
/** Of what is parsed as JSON, at once. */
export const maxHealthBytes = 64 * 2 ** 10;

/** What a pod's certificate has to prove. */
export interface PodIdentity {
  /** Authorities in PEM. */
  readonly ca: string;
  readonly servername: string;
}

/**
 * @param identity null: any certificate is taken, since nothing is sent that must stay secret
 * @throws when nothing answers in time, or too much, or another than the one that was meant
 */
export async function askPod(
  url: string,
  identity: PodIdentity | null,
  maxBytes = maxMetricsBytes,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  const request = url.startsWith('https:')
    ? https.get(url, { agent: false, signal, ...(identity ?? { rejectUnauthorized: false }) })
    : http.get(url, { agent: false, signal });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`answers with more than ${String(maxBytes)} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
}

/** Where its server answers, by its own port, since an older revision's may be another. Null: it has no address yet. */
export function podUrl({ spec, status }: Pod): string | null {
  const ip = status?.podIP;
  if (ip === undefined || ip === '') return null;
  const runtime = spec?.containers?.find(({ name }) => name === runtimeContainer);
  const secure = runtime?.ports?.find(({ name }) => name === 'https');
  const port = secure ?? runtime?.ports?.find(({ name }) => name === 'http');
  const scheme: Scheme = secure === undefined ? 'http' : 'https';
  return `${scheme}://${ip.includes(':') ? `[${ip}]` : ip}:${String(port?.containerPort ?? ports.http)}`;
}
