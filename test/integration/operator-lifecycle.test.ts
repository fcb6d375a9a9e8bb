// A service from manifest to Ready against a real API server, and what must not happen on the way.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../operator/src/kube/resources.js';
import { Authority } from '../builders/certificates.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { World, type RunningOperator } from './operator-world.js';
import { WatchedClient } from './watched-client.js';
import { eventually, settled } from '../processes.js';

let world: World;
let operator: RunningOperator;
let client: WatchedClient;

jest.setTimeout(180_000);

const oneGi = { resources: { limits: { memory: '1Gi', cpu: '1000m' } } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  client = new WatchedClient(world.api.kubeConfig('operator'));
  operator = world.startOperator({}, client);
}, 120_000);

afterAll(() => world.stop());

describe('a service', () => {
  test('goes from manifest to Ready, with all children owned by it', async () => {
    await world.createService('main', {
      model: world.model('models/llama/'),
      ...oneGi,
      routing: { host: 'main.example.org' },
    });
    await world.condition('main', 'ModelResolved', 'True');
    await world.condition('main', 'Fits', 'True');
    const service = await world.get(resources.llmServices, 'main');
    const { deployments, services, disruptionBudgets, httpRoutes } = resources;
    for (const resource of [deployments, services, disruptionBudgets, httpRoutes]) {
      const child = await eventually(resource.kind, () => world.get(resource, 'main'));
      expect(child.metadata).toMatchObject({
        ownerReferences: [{ uid: service?.metadata.uid, controller: true }],
      });
    }
    await world.condition('main', 'Ready', 'False');
    await world.makePod('main', 'main-1');
    await world.podServes('main-1');
    await world.acceptRoute('main');
    const ready = await world.condition('main', 'Ready', 'True');
    expect(ready.observedGeneration).toBe(1);
    const status = await world.status('main');
    expect(status).toMatchObject({ url: 'http://main.example.org/', model: 'main', readyReplicas: 1 });
    expect(status.conditions?.map(({ type }) => type)).toEqual([
      ...[
        'ModelResolved',
        'Fits',
        'Scheduled',
        'Loaded',
        'Serving',
        'Routed',
        'StreamingVerified',
        'Ready',
        'Reconciling',
        'Stalled',
      ],
    ]);
    expect(status.memoryPlan).toMatchObject({ maxModelLen: 512, devices: 1 });
  });

  test('that converged is not written to again, by this operator or the next', async () => {
    const versions = async () => {
      const kinds = [resources.llmServices, resources.deployments, resources.services, resources.httpRoutes];
      const found = await Promise.all(kinds.map((kind) => world.get(kind, 'main')));
      return found.map((object) => object?.metadata.resourceVersion);
    };
    // Ready is written before the Deployment's note of which revision was.
    const before = await settled('what is written', versions);
    await operator.stop();
    client = new WatchedClient(world.api.kubeConfig('operator'));
    operator = world.startOperator({ timing: { resyncMs: 100 } }, client);
    await eventually('leadership', () => operator.operator.leading);
    await sleep(2_000);
    expect(client.writes).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  test('keeps fields and labels that others set, and takes back its own', async () => {
    await world.patch(resources.deployments, 'main', {
      metadata: { labels: { 'example.org/team': 'ml' } },
      spec: { replicas: 5, template: { metadata: { annotations: { 'example.org/restarted-at': 'noon' } } } },
    });
    const deployment = await eventually('one replica again', async () => {
      const found = await world.deployment('main');
      return found.spec?.replicas === 1 ? found : null;
    });
    expect(deployment.metadata.labels).toMatchObject({ 'example.org/team': 'ml' });
    expect(deployment.spec?.template?.metadata?.annotations).toMatchObject({
      'example.org/restarted-at': 'noon',
    });
  });

  test('restores a child that was deleted', async () => {
    const before = await world.get(resources.services, 'main');
    await world.delete(resources.services, 'main');
    const after = await eventually('the Service', () => world.get(resources.services, 'main'));
    expect(after.metadata.uid).not.toBe(before?.metadata.uid);
  });

  test('scales by the scale subresource, and is not Ready until the new pod is', async () => {
    const path = `/apis/llmservice.dev/v1alpha1/namespaces/default/llmservices/main/scale`;
    await world.request('PATCH', path, { spec: { replicas: 2 } }, 'application/merge-patch+json');
    await eventually('two replicas', async () => (await world.deployment('main')).spec?.replicas === 2);
    const notReady = await world.condition('main', 'Ready', 'False', 'ReplicasStarting');
    expect(notReady.message).toContain('1 of 2');
    // One of somebody who only has the labels serves nobody, and its end is nobody's failure.
    const { spec } = (await world.deployment('main')) as unknown as {
      spec: { template: { metadata: object; spec: object } };
    };
    const { template } = spec;
    const squatter = { ...template.metadata, name: 'main-squatter', namespace: 'default' };
    await world.create({ apiVersion: 'v1', kind: 'Pod', metadata: squatter, spec: template.spec });
    await world.podServes('main-squatter');
    await world.podFailed('main-squatter', JSON.stringify({ reason: 'S3AccessDenied', message: 'not mine' }));
    await world.podServes('main-squatter');
    await world.patch(resources.llmServices, 'main', { metadata: { annotations: { look: '1' } } });
    expect((await world.condition('main', 'Ready', 'False', 'ReplicasStarting')).message).toContain('1 of 2');
    expect((await world.status('main')).lastFailure ?? null).toBeNull();
    expect(await world.request('GET', path)).toMatchObject({
      spec: { replicas: 2 },
      status: { selector: 'llmservice.dev/service=main' },
    });
    await world.makePod('main', 'main-2');
    await world.podServes('main-2');
    await world.condition('main', 'Ready', 'True');
    await world.patch(resources.llmServices, 'main', { spec: { replicas: 1 } });
    await eventually('one replica', async () => (await world.deployment('main')).spec?.replicas === 1);
  });

  test('is Ready for its generation only: pods of the old template do not count', async () => {
    await world.patch(resources.llmServices, 'main', { spec: { env: [{ name: 'NEW', value: '1' }] } });
    await world.condition('main', 'Ready', 'False');
    await world.condition('main', 'Serving', 'True');
    await world.makePod('main', 'main-3');
    await world.podServes('main-3');
    const ready = await world.condition('main', 'Ready', 'True');
    expect(ready.observedGeneration).toBe(
      (await world.get(resources.llmServices, 'main'))?.metadata.generation,
    );
  });

  test('loses its route when its host goes', async () => {
    await world.patch(resources.llmServices, 'main', { spec: { routing: { host: null } } });
    await eventually('no route', async () => (await world.get(resources.httpRoutes, 'main')) === null);
    await world.condition('main', 'Routed', 'True', 'ClusterOnly');
    expect((await world.status('main')).url).toBe('http://main.default.svc/');
  });

  // A pod's certificate is for the Service's name, by an authority that the operator need not know.
  test.each(['http', 'https'])(
    'shows in status how far a pod has pulled, as it reports by %s',
    async (scheme) => {
      await operator.stop();
      const load = { phase: 'pull', bytesDone: 10, bytesTotal: 40, bytesPerSecond: 5, etaSeconds: 6 };
      const authority = new Authority('unknown');
      const answer: RequestListener = (_request, response) =>
        response
          .writeHead(503, { 'content-type': 'application/json' })
          .end(JSON.stringify({ state: 'pulling', load }));
      const health = (
        scheme === 'http'
          ? createServer(answer)
          : createTlsServer(authority.issue('loading.default.svc'), answer)
      ).listen(0, '127.0.0.1');
      await once(health, 'listening');
      const address = health.address() as { port: number };
      operator = world.startOperator({ podBaseUrl: () => `${scheme}://127.0.0.1:${address.port}` });
      const name = `loading-${scheme}`;
      await world.createService(name, { model: world.model('models/llama'), ...oneGi });
      await world.makePod(name, `${name}-1`);
      await world.setPodStatus(`${name}-1`, {
        phase: 'Running',
        podIP: '192.0.2.9',
        conditions: [{ type: 'PodScheduled', status: 'True' }],
        containerStatuses: [
          {
            name: 'runtime',
            ready: false,
            restartCount: 0,
            state: { running: {} },
            image: '',
            imageID: '',
          } as never,
        ],
      });
      await world.condition(name, 'Loaded', 'False', 'Pulling');
      expect((await world.status(name)).loading).toEqual(load);
      await world.podServes(`${name}-1`);
      await world.condition(name, 'Ready', 'True');
      expect((await world.status(name)).loading).toBeUndefined();
      health.close();
      authority.remove();
    },
  );

  test('unschedulable pods say what is missing', async () => {
    await world.createService('waiting', { model: world.model('models/llama/'), ...oneGi });
    await world.makePod('waiting', 'waiting-1');
    await world.setPodStatus('waiting-1', {
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/3 nodes are available: 3 Insufficient memory.',
        },
      ],
    });
    const { message } = await world.condition('waiting', 'Scheduled', 'False', 'Unschedulable');
    expect(message).toContain('Free memory on a node');
    await world.condition('waiting', 'Ready', 'False', 'Unschedulable');
  });

  test('pods that a quota refuses are reported', async () => {
    await world.createService('quota', { model: world.model('models/llama/'), ...oneGi });
    await world.deployment('quota');
    await world.patch(
      resources.deployments,
      'quota',
      {
        status: {
          conditions: [
            {
              type: 'ReplicaFailure',
              status: 'True',
              reason: 'FailedCreate',
              message: 'exceeded quota: gpus',
            },
          ],
        },
      },
      '/status',
    );
    const { message } = await world.condition('quota', 'Scheduled', 'False', 'FailedCreate');
    expect(message).toContain('exceeded quota: gpus');
  });

  test('survives a restart of the API server: changes made afterwards are seen', async () => {
    await operator.stop();
    // An outage shorter than the lease; a longer one ends the process, and its successor lists anew.
    operator = world.startOperator({ timing: { leaseMs: 200_000, renewDeadlineMs: 150_000 } });
    await eventually('leadership', () => operator.operator.leading);
    await world.api.restart();
    await world.createService('later', { model: world.model('models/llama/'), ...oneGi });
    await world.condition('later', 'ModelResolved', 'True');
    await world.deployment('later');
  }, 180_000);

  test('a name that is taken by a foreign object is reported, and the object left alone', async () => {
    await world.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'foreign', namespace: 'default' },
      spec: { ports: [{ port: 9 }] },
    });
    await world.createService('foreign', { model: world.model('models/llama/'), ...oneGi });
    await world.condition('foreign', 'Scheduled', 'False', 'NameTaken');
    expect((await world.get(resources.services, 'foreign'))?.metadata.labels).toBeUndefined();
  });

  test('deletion needs nothing of the operator: no finalizer is left', async () => {
    await world.delete(resources.llmServices, 'main');
    await eventually('deletion', async () => (await world.get(resources.llmServices, 'main')) === null);
  });
});
