// The HTTP client of preflights for hubs of models, registries and lists of files. These send their readers on to storage of other names:
// every host is judged where it is connected to.

import { rootCertificates } from 'node:tls';
import type { Fetch } from '@llmservice/checkpoint/hub';
import { Agent, fetch } from 'undici';
import type { AddressGuard } from './address-guard.js';

const timeoutMs = 10_000;

/** @param field that names the endpoint, for messages */
export function makeHttpClient(
  field: string,
  endpoint: string,
  certificates: string | null,
  guard: AddressGuard,
): { readonly fetch: Fetch; readonly destroy: () => void } {
  const { lookup, checkHost } = guard.hostsOf(field, endpoint);
  const agent = new Agent({
    connect: {
      timeout: 4_000,
      lookup,
      ...(certificates === null ? {} : { ca: [...rootCertificates, certificates] }),
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    fetch: (url, init) => {
      // An address in the URL itself never meets a look-up.
      checkHost(url);
      return fetch(url, { ...init, dispatcher: agent });
    },
    destroy: () => void agent.destroy().catch(() => undefined),
  };
}
