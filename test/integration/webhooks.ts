// Webhooks of a controller that runs beside a test's API server, which finds them by their address.

import { Authority } from '../builders/certificates.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import type { ApiServer } from './api-server.js';

/** An API server, whose requests for admission reach this machine at the address. */
export interface WebhookCaller extends Pick<ApiServer, 'kubeConfig'> {
  readonly admin: Pick<ApiServer['admin'], 'request'>;
  readonly callsAt?: string;
}

interface Webhook {
  readonly rules: readonly { readonly resources: readonly string[]; readonly apiGroups: readonly string[] }[];
  readonly clientConfig: { readonly service: { readonly path: string } };
}

export interface WebhookServer {
  readonly address: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly caBundle: string;
}

export function webhookServer(name: string, port: number, address = '127.0.0.1'): WebhookServer {
  const authority = new Authority(name);
  const { cert, key } = authority.issue('localhost', address);
  const caBundle = Buffer.from(authority.cert).toString('base64');
  authority.remove();
  return { address, port, cert, key, caBundle };
}

/** @param known resources, of which alone there are any here */
export async function registerWebhooks(
  api: WebhookCaller,
  object: KubeObject,
  { address, port, caBundle }: WebhookServer,
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
          url: `https://${address}:${String(port)}${each.clientConfig.service.path}`,
          caBundle,
        },
      })),
    },
  });
}

/** Nothing that listens for TLS answers plain HTTP with another error than of a refused connection. @throws while nobody listens */
export async function listensForTls(port: number, address = '127.0.0.1'): Promise<true> {
  const response = await fetch(`http://${address}:${String(port)}/`).catch(
    (error: unknown) => error as Error,
  );
  if (response instanceof Error && JSON.stringify(response.cause ?? '').includes('ECONNREFUSED'))
    throw response;
  return true;
}
