// The HTTP client of pulls from a hub of models.

import { rootCertificates } from 'node:tls';
import { Agent, fetch } from 'undici';
import type { Fetch } from '@llmservice/checkpoint/hub';

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** Null: requests name nobody. */
  readonly token: string | null;
  /** PEM certificates to trust besides the system's roots. */
  readonly caCertificates: readonly string[];
}

const connectTimeoutMs = 5_000;
/** Between two pieces of a body, while somebody reads. */
const idleTimeoutMs = 30_000;

export function makeHubClient({ caCertificates }: HubSettings): {
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
