import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from 'winston';
import type { KubeClient, KubeRequest } from '../kube/client.js';
import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { Caches } from './caches.js';

const servicesPath = '/apis/llmservice.dev/v1alpha1/namespaces/services/llmservices';

/** Caches of a cluster with these services, by what its pods are chosen and which services are notified. */
async function started(instance: string | null, services: readonly KubeObject[] = []) {
  const stop = new AbortController();
  const asked = new Map<string, unknown>();
  const changed: string[] = [];
  const watch = new PassThrough();
  const client: Pick<KubeClient, 'pages' | 'open'> = {
    async *pages({ path, query }: Pick<KubeRequest, 'path' | 'query'>) {
      asked.set(path, query?.['labelSelector']);
      const items = path === servicesPath ? services : [];
      yield await Promise.resolve({ metadata: { resourceVersion: '1' }, items: items as never });
    },
    open: ({ path, signal }) =>
      path === servicesPath
        ? Promise.resolve(watch as unknown as IncomingMessage)
        : (once(new EventEmitter(), 'never', signal === undefined ? {} : { signal }) as Promise<never>),
  };
  const caches = new Caches({
    client: client as KubeClient,
    namespaces: ['services'],
    activatorNamespace: 'system',
    instance,
    pickers: false,
    logger: createLogger({ silent: true }),
    onChange: (key) => changed.push(key),
  });
  await caches.start(stop.signal);
  const end = (): void => {
    stop.abort();
    watch.destroy();
  };
  return { caches, asked, changed, watch, stop: end };
}

/** By what pods are chosen in the operator's own namespace. */
async function activatorsAskedFor(instance: string | null): Promise<unknown> {
  const { asked, stop } = await started(instance);
  stop();
  return asked.get('/api/v1/namespaces/system/pods');
}

test('activators are those of the same instance, where there may be several', async () => {
  const all = 'app.kubernetes.io/name=llmservice-activator';
  expect(await activatorsAskedFor(null)).toBe(`${all},!llmservice.dev/instance`);
  expect(await activatorsAskedFor('team-a')).toBe(`${all},llmservice.dev/instance=team-a`);
});

test('InferencePools are watched without pickers too: an operator that had one may have left some', async () => {
  const { caches, asked, stop } = await started(null);
  stop();
  const inNamespace = (group: string) => [...asked.keys()].filter((path) => path.startsWith(group));
  expect(inNamespace('/apis/inference.networking.k8s.io/')).toEqual([
    '/apis/inference.networking.k8s.io/v1/namespaces/services/inferencepools',
  ]);
  expect(caches.kinds.inferencePools).toBe(true);
  expect(inNamespace('/apis/rbac.authorization.k8s.io/')).toEqual([]);
});

test('what the watch reports of a write of its own concerns the services alone that it stands in for', async () => {
  const service = (name: string, resourceVersion: string, spec: object = {}): KubeObject => ({
    ...resources.llmServices,
    metadata: { name, namespace: 'services', uid: name, resourceVersion },
    spec,
  });
  const small = { routing: { fallback: { service: 'small' } } };
  const { caches, changed, watch, stop } = await started(null, [
    service('large', '1', small),
    service('small', '1'),
  ]);
  const changesAt = async (version: string): Promise<string[]> => {
    changed.length = 0;
    watch.write(`${JSON.stringify({ type: 'MODIFIED', object: service('small', version) })}\n`);
    while (!changed.includes('services/large')) await turn();
    return changed;
  };
  caches.remember(service('small', '2'));
  expect(await changesAt('2')).toEqual(['services/large']);
  expect(await changesAt('3')).toEqual(['services/small', 'services/large']);
  stop();
});

test('services at a host are those that name it by now, and only those that wait for it look again when it may be free', async () => {
  const service = (name: string, version: string, host: string, reason?: string): KubeObject => ({
    ...resources.llmServices,
    metadata: { name, namespace: 'services', uid: name, resourceVersion: version },
    spec: { routing: { host } },
    status: reason === undefined ? {} : { conditions: [{ type: 'Routed', reason }] },
  });
  const { caches, changed, watch, stop } = await started(null, [
    service('first', '1', 'a'),
    service('waiting', '1', 'a', 'HostTaken'),
    service('other', '1', 'b', 'HostTaken'),
    { ...service('none', '1', ''), spec: {} },
  ]);
  const at = (host: string): string[] => caches.servicesAt(host).map(({ metadata }) => metadata.name);
  expect([at('a'), at('b'), at('')]).toEqual([['first', 'waiting'], ['other'], []]);
  changed.length = 0;
  const moved = { ...service('first', '2', 'c'), status: { url: 'http://a/' } };
  watch.write(`${JSON.stringify({ type: 'MODIFIED', object: moved })}\n`);
  while (changed.length < 2) await turn();
  expect(changed).toEqual(['services/first', 'services/waiting']);
  expect([at('a'), at('c')]).toEqual([['waiting'], ['first']]);
  caches.remember(service('first', '3', 'b'));
  expect([at('b'), at('c')]).toEqual([['first', 'other'], []]);
  stop();
});
