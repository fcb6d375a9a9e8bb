import { PassThrough, addAbortSignal } from 'node:stream';
import { labels } from '@llmservice/crds';
import { afterEach, expect, test } from '@jest/globals';
import { createLogger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { Directory } from './directory.js';

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

const service = (name: string, scaling: object, routing: object = {}) => ({
  metadata: { namespace: 'ns', name, generation: 1, resourceVersion: '1' },
  spec: { replicas: 1, stop: false, scaling: { wakeTimeoutSeconds: 600, ...scaling }, routing },
});
const pod = (name: string, of: string, podIP: string) => ({
  metadata: { namespace: 'ns', name, resourceVersion: '1', labels: { [labels.service]: of } },
  spec: { containers: [{ name: 'runtime', ports: [{ name: 'http', containerPort: 8080 }] }] },
  status: { podIP, conditions: [{ type: 'Ready', status: 'True' }] },
});

/** A directory of what an API server lists. */
async function directoryOf(llmservices: object[], pods: object[]): Promise<Directory> {
  const lists: Record<string, object[]> = { llmservices, pods };
  const client = {
    async *pages({ path }: { path: string }) {
      const items = lists[path.split('/').at(-1) ?? ''] ?? [];
      yield await Promise.resolve({ metadata: { resourceVersion: '1' }, items });
    },
    open: () => Promise.resolve(addAbortSignal(stop.signal, new PassThrough())),
  } as unknown as KubeClient;
  const logger = createLogger({ silent: true });
  const directory = new Directory({ client, namespaces: null, logger, onChange: () => undefined });
  await directory.start(stop.signal);
  return directory;
}

test('a service that sleeps is at its pods, each time it is asked for', async () => {
  const pods = [pod('a', 'demo', '192.0.2.1'), pod('b', 'demo', '192.0.2.2'), pod('c', 'other', '192.0.2.3')];
  const directory = await directoryOf([service('demo', { idleAfterSeconds: 60 })], pods);
  const place = {
    state: 'ready',
    urls: ['http://192.0.2.1:8080', 'http://192.0.2.2:8080'],
    identity: null,
    timeoutMs: 600_000,
  };
  expect([directory.place('ns/demo'), directory.place('ns/demo')]).toEqual([place, place]);
});

test('of a service that speaks HTTPS only such pods are asked, and only by what verifies them', async () => {
  const secure = pod('b', 'demo', '192.0.2.2');
  const spec = { containers: [{ name: 'runtime', ports: [{ name: 'https', containerPort: 8080 }] }] };
  const pods = [pod('a', 'demo', '192.0.2.1'), { ...secure, spec }];
  const { metadata, spec: own } = service('demo', { idleAfterSeconds: 60 });
  const wanted = {
    metadata,
    spec: { ...own, tls: { secretRef: { name: 't' }, caConfigMapRef: { name: 'c' } } },
  };
  const unverified = await directoryOf([wanted], pods);
  expect(unverified.place('ns/demo')).toMatchObject({ error: { code: 'upstream_unverified', status: 502 } });
  const directory = await directoryOf([{ ...wanted, status: { certificateAuthorities: 'pem' } }], pods);
  expect(directory.place('ns/demo')).toMatchObject({
    state: 'ready',
    urls: ['https://192.0.2.2:8080'],
    identity: { ca: 'pem', servername: 'demo.ns.svc' },
  });
});

test('to one that never sleeps nothing is sent on', async () => {
  const directory = await directoryOf([service('demo', {})], [pod('a', 'demo', '192.0.2.1')]);
  const key = directory.find('demo.ns.svc');
  expect(directory.place(key)).toMatchObject({ state: 'refused', error: { code: 'model_not_ready' } });
});

test('a service of an older CRD, which fills nothing in, is found by its name and refused', async () => {
  const { metadata } = service('old', {});
  const directory = await directoryOf(
    [{ metadata, spec: {} }, service('demo', { idleAfterSeconds: 60 })],
    [],
  );
  expect(directory.find('demo.ns')).toBe('ns/demo');
  expect(directory.place(directory.find('old.ns'))).toMatchObject({ error: { code: 'model_not_ready' } });
});

test('who has a part of a host has not the host', async () => {
  const host = 'llm.example.org';
  const prefixed = service('a', {}, { host, pathPrefix: '/a' });
  const directory = await directoryOf([prefixed, service('demo', { idleAfterSeconds: 60 }, { host })], []);
  expect(directory.find(host)).toBe('ns/demo');
});
