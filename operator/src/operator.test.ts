import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { labels } from '@llmservice/crds';
import { createLogger } from 'winston';
import { KubeClient } from './kube/client.js';
import type { KubeObject } from './kube/types.js';
import { Metrics } from './metrics.js';
import { Operator } from './operator.js';
import { noLimits } from './plan/tenant-limits.js';
import { anyEndpoint } from './preflight/address-guard.js';

const service = {
  metadata: { name: 'demo', namespace: 'ns', uid: 'u', generation: 1, resourceVersion: '1' },
  spec: { model: { uri: 's3://bucket/folder/' }, scaling: { maxReplicas: 4, target: 10 } },
};
const pod = {
  metadata: {
    name: 'demo-1',
    namespace: 'ns',
    uid: 'p',
    resourceVersion: '1',
    labels: { [labels.service]: 'demo', 'pod-template-hash': 'h' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'demo-h', uid: 'r', controller: true }],
  },
  spec: { nodeName: 'n' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};
/** Of a pod that has more to do than one can. */
const load = [
  'vllm:num_requests_running 25',
  'vllm:num_requests_waiting 0',
  'vllm:request_success_total 1',
  'vllm:prompt_tokens_total 1',
  'vllm:generation_tokens_total 1',
].join('\n');

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** An API server that has one LlmService with a pod, and does not answer writes whose path ends so until asked to. */
async function slowApi(held: string) {
  const seen = { holder: null as string | null, write: null as ServerResponse | null };
  let lease: KubeObject | null = null;
  server = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const answer = (body: object | null): void => {
        response.writeHead(body === null ? 404 : 200).end(JSON.stringify(body ?? { reason: 'NotFound' }));
      };
      const conflict = (): unknown => response.writeHead(409).end(JSON.stringify({ reason: 'Conflict' }));
      if (pathname === '/metrics') response.end(load);
      else if (request.method === 'PATCH' && pathname.endsWith(held)) seen.write = response;
      else if (request.method === 'PATCH') conflict();
      else if (searchParams.get('watch') === 'true') response.flushHeaders();
      else if (!pathname.includes('/leases')) {
        const all: Record<string, object[]> = { llmservices: [service], pods: [pod] };
        const items = all[pathname.split('/').at(-1) ?? ''] ?? [];
        answer(pathname.includes('metrics') ? null : { metadata: { resourceVersion: '1' }, items });
      } else {
        if (request.method !== 'GET') lease = (await json(request)) as KubeObject;
        seen.holder = (lease?.['spec'] as { holderIdentity: string } | undefined)?.holderIdentity ?? null;
        answer(lease);
      }
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: 'u' },
  );
  return { client: new KubeClient(config), seen, url: `http://127.0.0.1:${port}` };
}

function operatorOf(client: KubeClient, url: string, clock = (): Date => new Date()): Operator {
  return new Operator({
    client,
    logger: createLogger({ silent: true }),
    metrics: (depth) => new Metrics(depth),
    options: {
      watchNamespaces: ['ns'],
      leaseNamespace: 'ns',
      instance: null,
      identity: 'a',
      capabilities: {
        images: { cpu: 'runtime:1', cuda: null, hip: null },
        vllmImages: { cpu: null, cuda: null, hip: null },
        operatorImage: null,
        gateway: null,
        istioGateway: null,
        allowedHostPaths: [],
        limits: noLimits,
        prometheusUrl: null,
        endpointPickerImage: null,
      },
      endpoints: anyEndpoint,
      publicAddress: null,
      activatorTls: false,
      conversion: null,
      prices: { perHour: new Map(), currency: null },
      concurrency: 1,
      port: 0,
      logLevel: 'error',
    },
    timing: { retryMs: 20, idleIntervalMs: 50 },
    podBaseUrl: () => url,
    clock,
  });
}

test.each([
  ['of a reconcile', '/status'],
  ['of a look at the load', '/scale'],
])('the lease is given up only when no write %s is under way any more', async (_, path) => {
  const { client, seen, url } = await slowApi(path);
  const operator = operatorOf(client, url);
  const stop = new AbortController();
  const ended = operator.run(stop.signal);
  for (let tries = 0; tries < 2_500 && seen.write === null; tries += 1) await sleep(20);
  stop.abort();
  await sleep(200);
  expect(operator.leading).toBe(false);
  expect(seen.holder).toBe('a');
  seen.write?.writeHead(409).end(JSON.stringify({ reason: 'Conflict' }));
  await ended;
  expect(seen.holder).toBe('');
});

test('a leader counts what pods hold from when it leads, however long it stood by', async () => {
  const { client, seen, url } = await slowApi('/status');
  let time = '2026-11-10T12:00:00Z';
  const operator = operatorOf(client, url, () => new Date(time));
  const stop = new AbortController();
  time = '2026-11-20T12:00:00Z';
  const ended = operator.run(stop.signal);
  for (let tries = 0; tries < 2_500 && seen.write === null; tries += 1) await sleep(20);
  time = '2026-11-20T12:01:00Z';
  const series = 'llmservice_device_seconds_total{namespace="ns",service="demo",device="cpu"}';
  expect(await operator.metrics.registry.metrics()).toContain(`${series} 60\n`);
  stop.abort();
  seen.write?.writeHead(409).end(JSON.stringify({ reason: 'Conflict' }));
  await ended;
});
