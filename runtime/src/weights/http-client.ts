// The HTTP client of pulls from hubs of models, registries and lists of files.

import { rootCertificates } from 'node:tls';
import { Agent, fetch } from 'undici';
import type { Fetch } from '@llmservice/checkpoint/hub';

const connectTimeoutMs = 5_000;
/** Between two pieces of a body, while somebody reads. */
const idleTimeoutMs = 30_000;

/** @param caCertificates PEM certificates to trust besides the system's roots */
export function makeHttpClient(caCertificates: readonly string[]): {
  readonly fetch: Fetch;
  readonly destroy: () => void;
} {
  const ca = caCertificates.length === 0 ? {} : { ca: [...rootCertificates, ...caCertificates] };
  const agent = new Agent({ connect: { timeout: connectTimeoutMs, ...ca }, bodyTimeout: idleTimeoutMs });
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher: agent }),
    destroy: () => void agent.destroy().catch(() => undefined),
  };
}
