// Whether streams come through the public route: by an operator that finds the Gateway's address for itself, asks a real
// server's route through proxies that pass events on or keep them back, and reports what it saw.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { resources } from '../../operator/src/kube/resources.js';
import { ScriptedServer } from '../../runtime/src/http/scripted-server.fixture.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, settled } from '../processes.js';
import { BufferingProxy } from './buffering-proxy.js';
import { Kubectl } from './kubectl.js';
import { World, type RunningOperator } from './operator-world.js';
import { installRouteCrds } from './published-crds.js';

jest.setTimeout(120_000);

let world: World;
/** What answers where no service of its own does. */
let server: ScriptedServer;
const servers: ScriptedServer[] = [];
let proxy: BufferingProxy;
let operator: RunningOperator;

const startOperator = (): RunningOperator =>
  world.startOperator({ timing: { streamPauses: { firstMs: 200, maxMs: 1_000 } } });
const host = (name: string): string => `${name}.example.org`;
const asked = (name: string): number => proxy.asked.filter((each) => each === host(name)).length;

beforeAll(async () => {
  [world, server] = await Promise.all([World.start(), ScriptedServer.start()]);
  proxy = await BufferingProxy.start(server.url);
  world.s3.put('models', 'llama', llamaCheckpoint());
  await installRouteCrds(new Kubectl(world.api.kubeConfig()));
  await makeGateway();
  operator = startOperator();
}, 180_000);

afterAll(async () => {
  await world.stop();
  proxy.stop();
  for (const each of [server, ...servers]) await each.stop();
});

/** As its controller leaves it. */
async function makeGateway(): Promise<void> {
  const { apiVersion, kind } = resources.gateways;
  const listener = { name: 'http', protocol: 'HTTP', port: proxy.port };
  const gateway = {
    apiVersion,
    kind,
    metadata: { name: 'public', namespace: 'gateways' },
    spec: { gatewayClassName: 'any', listeners: [listener] },
  };
  await eventually('the Gateway', () => world.create(gateway).catch(() => null));
  const addresses = [{ type: 'IPAddress', value: '127.0.0.1' }];
  const path = `/apis/${apiVersion}/namespaces/gateways/gateways/public/status`;
  await world.request('PATCH', path, { status: { addresses } }, 'application/merge-patch+json');
}

async function serve(name: string, more: object = {}): Promise<void> {
  const own = await ScriptedServer.start({ service: `default/${name}` });
  servers.push(own);
  if (!proxy.targets.has(host(name))) proxy.targets.set(host(name), own.url);
  await world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    routing: { host: host(name) },
    ...more,
  });
  await world.makePod(name, `${name}-1`);
  await world.podServes(`${name}-1`);
  await eventually('the route', () => world.get(resources.httpRoutes, name));
  await world.acceptRoute(name);
}

describe('a route that streams', () => {
  test('is verified by an operator that asked its Gateway for the address', async () => {
    await serve('open');
    const { message } = await world.condition('open', 'StreamingVerified', 'True', 'Streams');
    // A busy machine may keep an event back as a proxy does, and the route is asked again.
    expect(message).toMatch(/come \d+ to \d+ ms apart/);
    expect(asked('open')).toBeGreaterThan(0);
  });

  test('is not asked again by the operator that comes after, nor written to', async () => {
    const version = async () => (await world.get(resources.llmServices, 'open'))?.metadata.resourceVersion;
    await world.condition('open', 'Ready', 'True');
    const before = await settled('the service', version);
    const times = asked('open');
    await operator.stop();
    operator = startOperator();
    await eventually('the lease', () => operator.operator.leading);
    await sleep(2_000);
    expect(await version()).toBe(before);
    expect(asked('open')).toBe(times);
  });

  test('is asked again once it is another', async () => {
    proxy.held.add(host('moved'));
    proxy.targets.set(host('moved'), proxy.targets.get(host('open')) ?? '');
    await world.patch(resources.llmServices, 'open', { spec: { routing: { host: host('moved') } } });
    await world.acceptRoute('open');
    await world.condition('open', 'StreamingVerified', 'False', 'Buffered');
  });
});

test('a route whose proxy keeps answers back is reported, gates nothing, and is found mended', async () => {
  proxy.held.add(host('held'));
  await serve('held');
  const { message } = await world.condition('held', 'StreamingVerified', 'False', 'Buffered');
  expect(message).toContain('proxy_buffering');
  await world.condition('held', 'Ready', 'True', 'Serving');
  proxy.held.delete(host('held'));
  await world.condition('held', 'StreamingVerified', 'True', 'Streams');
});

test('a route that does not lead to the service yet is asked again', async () => {
  proxy.unknown.add(host('late'));
  await serve('late');
  const { message } = await world.condition('late', 'StreamingVerified', 'Unknown', 'NotReached');
  expect(message).toContain('answered with 404');
  proxy.unknown.delete(host('late'));
  await world.condition('late', 'StreamingVerified', 'True');
});

test('a route that leads to another service is not taken for its own', async () => {
  const other = await ScriptedServer.start({ service: 'evil/mixed' });
  servers.push(other);
  proxy.targets.set(host('mixed'), other.url);
  await serve('mixed');
  const { message } = await world.condition('mixed', 'StreamingVerified', 'Unknown', 'NotReached');
  expect(message).toContain('another service answers');
  expect(message).not.toContain('evil');
  proxy.targets.set(host('mixed'), servers.at(-1)?.url ?? '');
  await world.condition('mixed', 'StreamingVerified', 'True', 'Streams');
});

test('nothing is asked of a service without pods, and none of vLLM', async () => {
  await serve('idle', { stop: true });
  await serve('foreign', { engine: { runtime: 'vllm' } });
  await world.condition('foreign', 'StreamingVerified', 'Unknown', 'NotChecked');
  await world.condition('foreign', 'Ready', 'True');
  expect(asked('foreign')).toBe(0);
});
