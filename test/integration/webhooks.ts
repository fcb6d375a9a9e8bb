// Webhooks of a controller that runs beside a test's API server, which finds them by their address.

import { Authority } from '../builders/certificates.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import type { ApiServer } from './api-server.js';

interface Webhook {
  readonly rules: readonly { readonly resources: readonly string[]; readonly apiGroups: readonly string[] }[];
  readonly clientConfig: { readonly service: { readonly path: string } };
}

export interface WebhookServer {
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly caBundle: string;
}

export function webhookServer(name: string, port: number): WebhookServer {
  const authority = new Authority(name);
  const { cert, key } = authority.issue('localhost');
  const caBundle = Buffer.from(authority.cert).toString('base64');
  authority.remove();
  return { port, cert, key, caBundle };
}

/** @param known resources, of which alone there are any here */
export async function registerWebhooks(
  api: ApiServer,
  object: KubeObject,
  { port, caBundle }: WebhookServer,
  known: ReadonlySet<string>,
): Promise<void> {
  const webhooks = object['webhooks'] as readonly Webhook[];
  const here = webhooks.filter(({ rules }) =>
    rules.every(({ resources }) => resources.every((each) => known.has(each.replace(/\/.*/, '')))),
  );
  const plural = `${object.kind.toLowerCase()}s`;
  await api.admin.request({
    method: 'POST',
    path: `/apis/${object.apiVersion}/${plural}`,
    body: {
      ...object,
      webhooks: here.map((each) => ({
        ...each,
        clientConfig: {
          url: `https://127.0.0.1:${String(port)}${each.clientConfig.service.path}`,
          caBundle,
        },
      })),
    },
  });
}

/** Nothing that listens for TLS answers plain HTTP with another error than of a refused connection. @throws while nobody listens */
export async function listensForTls(port: number): Promise<true> {
  const response = await fetch(`http://127.0.0.1:${String(port)}/`).catch((error: unknown) => error as Error);
  if (response instanceof Error && JSON.stringify(response.cause ?? '').includes('ECONNREFUSED'))
    throw response;
  return true;
}
