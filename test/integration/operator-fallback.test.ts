// A service that stands in at the public route of another, on a real API server with the definitions that the Gateway API
// and istio publish.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';
import { installRouteCrds } from './published-crds.js';

jest.setTimeout(180_000);

let world: World;
const { httpRoutes, virtualServices, llmServices } = resources;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  await installRouteCrds(new Kubectl(world.api.kubeConfig()));
  world.startOperator({
    capabilities: { istioGateway: { name: 'ingress', namespace: 'istio-system' } },
  });
  await create('small');
  await serve('small');
}, 180_000);

afterAll(() => world.stop());

const create = (name: string, routing: object = {}, model = 'models/llama/') =>
  world.createService(name, {
    model: world.model(model),
    resources: { limits: { memory: '1Gi' } },
    routing: { host: `${name}.example.org`, ...routing },
  });

async function serve(name: string, since = Date.now()): Promise<void> {
  await world.makePod(name, `${name}-1`);
  await answerSince(name, since);
}

async function answerSince(name: string, since: number): Promise<void> {
  await world.setPodStatus(`${name}-1`, {
    phase: 'Running',
    podIP: '192.0.2.1',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True', lastTransitionTime: new Date(since).toISOString() },
    ],
  });
}

/** The Service that the route of a service leads to. */
async function backend(name: string): Promise<string | undefined> {
  const route = await world.get(httpRoutes, name);
  return JSON.stringify(route?.['spec']).match(/"kind":"Service","name":"([^"]*)"/)?.[1];
}
const leadsTo = (name: string, service: string) =>
  eventually(`${name} leads to ${service}`, async () => (await backend(name)) === service);

test.each([
  ['itself', { fallback: { service: 'refused' } }, 'names this service itself'],
  [
    'any without a route',
    { fallback: { service: 'small' }, host: null },
    'routing.fallback needs routing.host',
  ],
])('a fallback to %s is refused', async (_, routing, message) => {
  await expect(create('refused', routing)).rejects.toThrow(message);
});

describe('a service whose model is not there', () => {
  test('has its requests answered by another, and says so without being Ready', async () => {
    await create('big', { fallback: { service: 'small' } }, 'models/absent/');
    await leadsTo('big', 'small');
    const route = await world.get(httpRoutes, 'big');
    expect(route).toMatchObject({
      spec: {
        rules: [
          {
            filters: [
              { requestHeaderModifier: { set: [{ name: 'x-llmservice-fallback-for', value: 'big' }] } },
              { responseHeaderModifier: { set: [{ name: 'x-llmservice-fallback', value: 'small' }] } },
              { urlRewrite: { hostname: 'small.default.svc' } },
            ],
          },
        ],
      },
    });
    await world.acceptRoute('big');
    const { message } = await world.condition('big', 'Routed', 'True', 'Fallback');
    expect(message).toBe('Requests for big.example.org go to small until a pod answers.');
    await world.condition('big', 'Ready', 'False', 'ModelNotFound');
  });

  test('is led to by its route again once a pod of its own has answered for a while', async () => {
    await world.patch(llmServices, 'big', { spec: { model: world.model('models/llama/') } });
    await world.deployment('big');
    // By a clock that is far ahead: however slow the machine, the while is not over before it is seen.
    await serve('big', Date.now() + 3_600_000);
    await world.condition('big', 'Ready', 'False', 'Fallback');
    expect(await backend('big')).toBe('small');
    await answerSince('big', Date.now());
    await leadsTo('big', 'big');
    expect(JSON.stringify(await world.get(httpRoutes, 'big'))).not.toContain('fallback');
    await world.acceptRoute('big');
    await world.condition('big', 'Ready', 'True', 'Serving');
  });

  test('leaves its requests to the other as soon as its last pod is gone', async () => {
    await world.delete(resources.pods, 'big-1');
    await leadsTo('big', 'small');
    await world.condition('big', 'Serving', 'False');
  });

  test('says where the other is not there, and uses it once it is', async () => {
    await world.patch(llmServices, 'big', { spec: { routing: { fallback: { service: 'spare' } } } });
    await leadsTo('big', 'big');
    await world.acceptRoute('big');
    const { message } = await world.condition('big', 'Routed', 'False', 'FallbackMissing');
    expect(message).toContain('LlmService spare, its fallback, does not exist');
    await create('spare', {}, 'models/absent/');
    await leadsTo('big', 'spare');
    await world.acceptRoute('big');
    await eventually('that it does not answer', async () =>
      (await world.condition('big', 'Routed', 'True')).message.includes('spare does not answer now'),
    );
  });
});

test('by istio, behind a prefix', async () => {
  const routing = { provider: 'istio', pathPrefix: '/mesh', fallback: { service: 'small' } };
  await create('mesh', routing, 'models/absent/');
  const route = await eventually('the VirtualService', () => world.get(virtualServices, 'mesh'));
  const { http } = route['spec'] as { http: object[] };
  expect(http[0]).toMatchObject({
    match: [{ uri: { prefix: '/mesh/v1/' } }],
    rewrite: { uri: '/v1/', authority: 'small.default.svc' },
    headers: { response: { set: { 'x-llmservice-fallback': 'small' } } },
    route: [{ destination: { host: 'small.default.svc.cluster.local' } }],
  });
  await world.condition('mesh', 'Routed', 'True', 'Fallback');
});
