// LlmGateways on a real API server: what the operator makes and says of them, and a real router by the table that it wrote.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { labels, type LlmGatewayStatus } from '@llmservice/crds';
import OpenAI from 'openai';
import { parse } from 'yaml';
import { readRouteTable, type ModelRoute } from '../../operator/src/domain/route-table.js';
import { collectionPath, objectPath, resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, freePort } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';
import { refusedGateways, reportedGateways } from './refused-gateways.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { RouterProcess } from './router-process.js';

jest.setTimeout(180_000);

const { llmGateways, httpRoutes, configMaps, deployments, services, networkPolicies } = resources;
let world: World;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  // It leads before the CRD is there, as after an upgrade of its image alone.
  world.startOperator();
  await createService('first');
  await createService('second', {
    model: { ...world.model('models/llama/'), name: 'big', aliases: ['big-1'] },
  });
  await new Kubectl(world.api.kubeConfig()).installCrd('llmgateways');
  for (const [name, purpose] of Object.entries({ keys: 'keys', others: 's3', wrong: 'keys' })) {
    await world.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels: { [labels.secretFor]: purpose } },
      stringData: {
        'keys.yaml': `keys: [{ id: a, sha256: ${'ab'.repeat(32)}, tokensPerDay: ${name === 'wrong' ? 0 : 1} }]`,
      },
    });
  }
}, 240_000);
afterAll(() => world.stop());

const createService = (name: string, spec: object = {}) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    ...spec,
  });

const gateway = (name: string, spec: object): object => ({
  apiVersion: llmGateways.apiVersion,
  kind: llmGateways.kind,
  metadata: { name, namespace: 'default' },
  spec,
});
const create = (name: string, spec: object = {}) => world.create(gateway(name, spec));

async function status(name: string): Promise<LlmGatewayStatus> {
  return (await world.get(llmGateways, name))?.['status'] ?? {};
}

/** Settles with the message of a condition once it has this status and reason. */
const condition = (name: string, type: string, wanted: string, reason?: string): Promise<string> =>
  eventually(`${name}: ${type}=${wanted}`, async () => {
    const { conditions } = await status(name);
    const found = conditions?.find((each) => each.type === type);
    if (found?.status === wanted && (reason === undefined || found.reason === reason)) return found.message;
    throw new Error(JSON.stringify(conditions));
  });

async function routes(name: string): Promise<readonly ModelRoute[]> {
  const table = await world.get<KubeObject & { data?: Record<string, string> }>(
    configMaps,
    `${name}-gateway`,
  );
  return table === null ? [] : readRouteTable(table.data?.['routes.json'] ?? '').models;
}
const routed = (name: string, wanted: Record<string, string>) =>
  eventually(`${name} routes ${Object.keys(wanted).join(', ')}`, async () => {
    const found = Object.fromEntries((await routes(name)).map((route) => [route.name, route.service]));
    expect(found).toEqual(wanted);
    return true;
  });

/** No controller runs that would start its routers. */
const runRouters = (name: string, readyReplicas: number) =>
  world.request(
    'PATCH',
    `${objectPath(deployments, 'default', `${name}-gateway`)}/status`,
    { status: { replicas: readyReplicas, readyReplicas } },
    'application/merge-patch+json',
  );

test('a gateway without a word serves all names of its namespace', async () => {
  await create('all');
  await routed('all', { first: 'first', big: 'second' });
  expect((await routes('all')).find(({ name }) => name === 'big')?.aliases).toEqual(['big-1']);
  await createService('third');
  await routed('all', { first: 'first', big: 'second', third: 'third' });
  await world.request('DELETE', objectPath(resources.llmServices, 'default', 'third'));
  await routed('all', { first: 'first', big: 'second' });
});

test('its routers hold no right, and nobody restarts them where the table changes', async () => {
  const deployment = await eventually('routers', () => world.get(deployments, 'all-gateway'));
  expect(deployment).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'LlmGateway', name: 'all', controller: true }] },
    spec: {
      replicas: 2,
      template: {
        spec: {
          automountServiceAccountToken: false,
          containers: [
            { image: 'example.org/operator:1', command: ['node', 'operator/dist/router/main.js'] },
          ],
        },
      },
    },
  });
  expect(await world.get(services, 'all-gateway')).toMatchObject({
    spec: { selector: { 'llmservice.dev/gateway': 'all' } },
  });
  expect(deployment.metadata.generation).toBe(1);
});

test('its status says what serves: Accepted, ResolvedRefs, Programmed, Ready, and each model', async () => {
  await condition('all', 'Accepted', 'True');
  await condition('all', 'ResolvedRefs', 'True');
  await condition('all', 'Programmed', 'True', 'ClusterOnly');
  await condition('all', 'Ready', 'False', 'NoRouter');
  await runRouters('all', 2);
  await condition('all', 'Ready', 'False', 'NoModel');
  await world.makePod('first', 'first-1');
  await world.setPodStatus('first-1', {
    phase: 'Running',
    podIP: '192.0.2.1',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() },
    ],
  });
  await condition('all', 'Ready', 'True', 'Serving');
  expect(await status('all')).toMatchObject({
    address: 'http://all-gateway.default.svc',
    readyReplicas: 2,
    modelCount: 2,
    models: [
      { name: 'first', service: 'first', state: 'Ready' },
      { name: 'big', service: 'second', state: 'NotReady' },
    ],
  });
});

describe('what names nothing is said with its field, and the rest is served', () => {
  const listed = {
    models: [
      {
        name: 'gpt-4o',
        service: 'first',
        aliases: ['mini'],
        fallback: ['other', 'nobody'],
        visibleTo: ['a'],
      },
      { name: 'other', service: 'second' },
      { name: 'lost', service: 'absent' },
    ],
    auth: { keysSecretRef: { name: 'keys' } },
  };

  test('a service and a fallback', async () => {
    await create('listed', listed);
    const message = await condition('listed', 'ResolvedRefs', 'False', 'RefNotFound');
    expect(message).toContain('spec.models[2].service: names LlmService absent');
    expect(message).toContain('spec.models[0].fallback[1]: names nobody');
    await routed('listed', { 'gpt-4o': 'first', other: 'second' });
    expect((await routes('listed'))[0]).toMatchObject({
      ...{ aliases: ['mini'], served: ['first'], fallback: ['other'], visibleTo: ['a'] },
      url: 'http://first.default.svc:80',
    });
    expect((await status('listed')).models).toContainEqual({
      name: 'lost',
      service: 'absent',
      state: 'Unresolved',
    });
  });

  test('and comes to be served once it is there', async () => {
    await createService('absent');
    await routed('listed', { 'gpt-4o': 'first', other: 'second', lost: 'absent' });
    await world.request('DELETE', objectPath(resources.llmServices, 'default', 'absent'));
  });
});

describe('a gateway is refused', () => {
  test.each(refusedGateways)('%s', async (_, spec, at) => {
    const created = world.api.admin.request({
      method: 'POST',
      path: collectionPath(llmGateways, 'default'),
      query: { dryRun: 'All', fieldValidation: 'Strict' },
      body: gateway('bad', spec),
    });
    await expect(created).rejects.toThrow(at);
  });

  test.each(reportedGateways)(
    'by a condition, with nothing of it applied: %s',
    async (name, spec, reason, message) => {
      await create(name, spec);
      expect(await condition(name, 'Accepted', 'False', reason)).toContain(message);
      expect(await world.get(deployments, `${name}-gateway`)).toBeNull();
    },
  );
});

describe('a host', () => {
  test('is routed, once nobody else has it, and the policy goes with its field', async () => {
    await createService('hosted', { routing: { host: 'models.example.org' } });
    await eventually('the route of the service', () => world.get(httpRoutes, 'hosted'));
    const networkPolicy = { from: [{ podSelector: {} }] };
    await create('public', { routing: { host: 'models.example.org' }, networkPolicy });
    await condition('public', 'Programmed', 'False', 'HostTaken');
    expect(await world.get(networkPolicies, 'public-gateway')).not.toBeNull();
    expect(await world.get(httpRoutes, 'public-gateway')).toBeNull();
    await world.request('DELETE', objectPath(resources.llmServices, 'default', 'hosted'));
    const route = await eventually('the route of the gateway', () => world.get(httpRoutes, 'public-gateway'));
    expect(route).toMatchObject({
      spec: {
        hostnames: ['models.example.org'],
        rules: [{ backendRefs: [{ name: 'public-gateway', port: 80 }] }],
      },
    });
    await world.request(
      'PATCH',
      objectPath(llmGateways, 'default', 'public'),
      { spec: { networkPolicy: null, routing: null } },
      'application/merge-patch+json',
    );
    await eventually('both to go', async () => {
      const left = [
        await world.get(networkPolicies, 'public-gateway'),
        await world.get(httpRoutes, 'public-gateway'),
      ];
      return left.every((each) => each === null);
    });
  });

  test('of a gateway is not for a service', async () => {
    await create('mine', { routing: { host: 'mine.example.org' } });
    await eventually('its route', () => world.get(httpRoutes, 'mine-gateway'));
    await createService('thief', { routing: { host: 'mine.example.org' } });
    await world.condition('thief', 'Routed', 'False', 'HostTaken');
  });
});

test('the sample is taken as it is, and its table serves real models by a real router', async () => {
  const sample = parse(
    readFileSync(new URL('../../deploy/samples/gateway.yaml', import.meta.url), 'utf8'),
  ) as KubeObject & { spec: { models: { service: string }[] } };
  for (const { service } of sample.spec.models) await createService(service);
  await world.create({ ...sample, metadata: { ...sample.metadata, namespace: 'default' } });
  await routed(sample.metadata.name, { chat: 'qwen', small: 'demo' });
  const replica = await ReplicaProcess.start({ uri: demoCheckpoint, name: 'demo' });
  const nowhere = `http://127.0.0.1:${String(await freePort())}`;
  // The cluster has neither pods nor names for them: the rest of the table is as the operator wrote it.
  const table = (await routes(sample.metadata.name)).map((route) => ({
    ...route,
    url: route.service === 'demo' ? replica.url : nowhere,
  }));
  const router = await RouterProcess.start({ routes: table });
  try {
    await replica.ready();
    const client = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const { data, response } = await client.chat.completions
      .create({ model: 'chat', messages: [{ role: 'user', content: 'What is the capital of France?' }] })
      .withResponse();
    expect(data.choices[0]!.message.content).toContain('Paris');
    expect(response.headers.get('x-llmservice-fallback')).toBe('demo');
  } finally {
    await router.stop();
    await replica.stop();
  }
});

test('a gateway that a change does not concern is written to by nobody', async () => {
  const versions = async (): Promise<(string | undefined)[]> => {
    const children = [configMaps, deployments, services].map((each) => world.get(each, 'listed-gateway'));
    const objects = await Promise.all([world.get(llmGateways, 'listed'), ...children]);
    return objects.map((object) => object?.metadata.resourceVersion);
  };
  const before = await versions();
  // Each change of a service has all gateways of its namespace reconciled.
  await createService('last');
  await eventually('it to be routed', async () => (await routes('all')).some(({ name }) => name === 'last'));
  expect(await versions()).toEqual(before);
});
