// A canary on real controllers over nodes that nobody has: what it gets of a route's requests, how its pods become the
// stable ones, and how it goes. The clock is the test's; pods' metrics are played.

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { collectionPath, objectPath, resources } from '../../operator/src/kube/resources.js';
import type { Deployment, KubeObject, Pod } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { FakeNodes } from './fake-nodes.js';
import { Kubectl } from './kubectl.js';
import { World, type RunningOperator } from './operator-world.js';
import { installRouteCrds } from './published-crds.js';
import { ReadyEndpoints } from './ready-endpoints.js';
import { weightsByHeader } from './route-weights.js';

jest.setTimeout(180_000);
const { deployments, services, httpRoutes, virtualServices, destinationRules } = resources;
let world: World;
let nodes: FakeNodes;
let operator: RunningOperator;
let metrics: Server;
/** Of a pod, by its revision. */
let metricsOf: (revision: string) => string = () => '';
let aheadMs = 0;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  await installRouteCrds(new Kubectl(world.api.kubeConfig()));
  for (const each of [virtualServices, destinationRules]) {
    const path = collectionPath(each, 'default');
    await eventually(each.plural, () => world.api.admin.get(path).catch(() => null));
  }
  nodes = FakeNodes.start(world.api, ['garbage-collector-controller']);
  metrics = createServer(({ url = '' }, response) => response.end(metricsOf(url.split('/')[1] ?? '')));
  await once(metrics.listen(0, '127.0.0.1'), 'listening');
}, 900_000);

afterAll(async () => {
  metrics.close();
  await nodes.stop();
  await world.stop();
});

beforeEach(() => {
  const { port } = metrics.address() as AddressInfo;
  operator = world.startOperator({
    capabilities: {
      images: { cpu: null, cuda: null, hip: 'example.org/runtime:1' },
      istioGateway: { name: 'ingress', namespace: 'istio-system' },
    },
    clock: () => new Date(Date.now() + aheadMs),
    podBaseUrl: (pod) => `http://127.0.0.1:${String(port)}/${revisionOf(pod)}`,
    timing: { resyncMs: 300, idleIntervalMs: 200 },
  });
});

afterEach(() => operator.stop());

const later = (seconds: number): void => void (aheadMs += seconds * 1000);
const revisionOf = ({ metadata }: KubeObject): string => metadata.annotations?.[annotations.revision] ?? '';
const edit = (name: string, spec: object) => world.patch(resources.llmServices, name, { spec });
const annotate = (name: string, notes: object) =>
  world.patch(resources.llmServices, name, { metadata: { annotations: notes } });
const stageOf = async (name: string) => (await world.status(name)).canary;

async function podsOf(name: string): Promise<Pod[]> {
  const pods = (await world.list(resources.pods, `llmservice.dev/service=${name}`)) as Pod[];
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const uidsOf = (pods: readonly Pod[]): (string | undefined)[] =>
  pods.map(({ metadata }) => metadata.uid).sort();

/** A service of two pods that is Ready, with room for two more. */
async function ready(name: string, canary: object, routing: object = {}): Promise<Pod[]> {
  await nodes.add(`${name}-node`, name, 4);
  await world.createService(name, {
    model: world.model('models/llama/'),
    accelerator: { resourceName: 'amd.com/gpu', devices: 1, memoryPerDevice: '8Gi' },
    nodeSelector: { pool: name },
    replicas: 2,
    routing: { host: `${name}.example.org`, ...routing },
    canary: canary as never,
  });
  if (Object.keys(routing).length === 0) {
    await eventually('the route', () => world.get(httpRoutes, name));
    await world.acceptRoute(name);
  }
  await world.condition(name, 'Ready', 'True');
  await world.condition(name, 'CanaryPassing', 'True', 'NoCanary');
  return podsOf(name);
}

async function inStep(name: string, step: number): Promise<void> {
  await eventually(`step ${String(step)} of ${name}`, async () => {
    const stage = await stageOf(name);
    if (stage?.phase !== 'step' || stage.step !== step) throw new Error(JSON.stringify(stage));
    return true;
  });
}

const routed = async (name: string) => weightsByHeader(await world.get(httpRoutes, name));

async function selectorOf(name: string): Promise<Record<string, string>> {
  const service = await world.get(services, name);
  return (service?.['spec'] as { selector: Record<string, string> } | undefined)?.selector ?? {};
}

async function gone(name: string): Promise<void> {
  await eventually(`nothing of the canary of ${name}`, async () => {
    const left = await Promise.all([deployments, services].map((each) => world.get(each, `${name}-canary`)));
    return left.every((each) => each === null) && (await stageOf(name)) === undefined;
  });
}

describe('a change of the spec', () => {
  test('is tried step by step, and its pods become the stable ones without a restart', async () => {
    const steps = [
      { mirrorPercent: 100, pauseSeconds: 60 },
      { weight: 20, pauseSeconds: 600 },
      { weight: 50 },
    ];
    const stable = await ready('tried', { steps });
    const endpoints = await ReadyEndpoints.watch(world.api, 'tried', 2);
    await edit('tried', { engine: { maxNumSeqs: 5 } });

    await inStep('tried', 1);
    const pods = await podsOf('tried');
    const canary = pods.filter((pod) => revisionOf(pod) !== revisionOf(stable[0]!));
    expect([pods.length, canary.length]).toEqual([3, 1]);
    expect(await routed('tried')).toEqual({
      always: { tried: 0, 'tried-canary': 100 },
      never: { tried: 100, 'tried-canary': 0 },
      others: { tried: 100, 'tried-canary': 0 },
    });
    expect(
      JSON.stringify((await world.get(httpRoutes, 'tried'))?.['spec']).match(/"RequestMirror"/g),
    ).toHaveLength(1);
    expect((await selectorOf('tried'))['pod-template-hash']).toBe(
      stable[0]?.metadata.labels?.['pod-template-hash'],
    );
    expect((await selectorOf('tried-canary'))['pod-template-hash']).toBe(
      canary[0]?.metadata.labels?.['pod-template-hash'],
    );
    const { message } = await world.condition('tried', 'Ready', 'False', 'Canary');
    expect(message).toContain('gets copies of 100 %: step 1 of 3');

    later(61);
    await inStep('tried', 2);
    expect((await routed('tried'))['others']).toEqual({ tried: 80, 'tried-canary': 20 });
    later(601);
    await inStep('tried', 3);
    await world.condition('tried', 'CanaryPassing', 'True', 'Paused');
    later(100_000);
    await annotate('tried', { [annotations.promote]: 'another' });
    await edit('tried', { canary: { steps: [...steps.slice(0, 2), { weight: 40 }] } });
    await eventually('the step as it is now', async () => (await stageOf('tried'))?.weight === 40);
    await annotate('tried', { [annotations.promote]: revisionOf(canary[0]!) });
    await eventually('promotion', async () => (await stageOf('tried'))?.phase === 'promoting');
    await eventually(
      'the canary’s Deployment to be gone',
      async () => (await world.get(deployments, 'tried-canary')) === null,
    );
    later(16);
    await world.condition('tried', 'Ready', 'True');
    await gone('tried');
    const after = await eventually('two pods', async () => {
      const left = await podsOf('tried');
      return left.length === 2 && left.every((pod) => revisionOf(pod) === revisionOf(canary[0]!))
        ? left
        : null;
    });
    expect(uidsOf(after)).toContain(canary[0]?.metadata.uid);
    expect(await selectorOf('tried')).toEqual({ 'llmservice.dev/service': 'tried' });
    expect((await routed('tried'))['others']).toEqual({ tried: 1 });
    expect(endpoints.fewest()).toBe(2);
  });

  test('taken back in the middle leaves the stable pods as they were', async () => {
    const stable = await ready('reverted', { steps: [{ weight: 10 }] });
    const endpoints = await ReadyEndpoints.watch(world.api, 'reverted', 2);
    const before = (await world.deployment('reverted')).spec;
    await edit('reverted', { engine: { maxNumSeqs: 5 } });
    await inStep('reverted', 1);
    await edit('reverted', { engine: { maxNumSeqs: null } });
    await eventually('leaving', async () => (await stageOf('reverted'))?.phase === 'leaving');
    // Requests may still be on their way to it.
    expect((await routed('reverted'))['others']).toEqual({ reverted: 1 });
    expect(await podsOf('reverted')).toHaveLength(3);
    later(16);
    await gone('reverted');
    await world.condition('reverted', 'CanaryPassing', 'True', 'NoCanary');
    expect(uidsOf(await podsOf('reverted'))).toEqual(uidsOf(stable));
    expect((await world.deployment('reverted')).spec).toEqual(before);
    expect(endpoints.fewest()).toBe(2);
  });

  test('whose pods never answer goes by itself, and no request meets it', async () => {
    const stable = await ready('crashing', { steps: [{ weight: 10 }] });
    const endpoints = await ReadyEndpoints.watch(world.api, 'crashing', 2);
    await edit('crashing', { engine: { image: 'example.org/crashing:1' } });
    await world.condition('crashing', 'CanaryPassing', 'False', 'Crashed');
    expect((await routed('crashing'))['others']).toEqual({ crashing: 1 });
    later(16);
    await gone('crashing');
    await world.condition('crashing', 'Ready', 'False', 'RolledBack');
    expect(uidsOf(await podsOf('crashing'))).toEqual(uidsOf(stable));
    expect(endpoints.fewest()).toBe(2);
  });
});

describe('an analysis', () => {
  const page = (answers: number, seconds: number): string =>
    [
      `http_requests_total{handler="/v1/chat/completions",method="POST",status="2xx"} ${String(answers)}`,
      `vllm:request_success_total{engine="0",finished_reason="stop"} ${String(answers)}`,
      `vllm:time_to_first_token_seconds_sum{engine="0"} ${String(answers * seconds)}`,
      `vllm:time_to_first_token_seconds_count{engine="0"} ${String(answers)}`,
    ].join('\n');
  let looks = 0;
  /** Pods that answer more at each look, canaries in so many seconds. */
  const play = (stable: string, canarySeconds: number): void => {
    metricsOf = (revision) => page((looks += 10), revision === stable ? 0.2 : canarySeconds);
  };

  test('takes back a canary whose first tokens come later, and says by how much', async () => {
    const stable = await ready('slower', { steps: [{ weight: 50 }], analysis: { minRequests: 20 } });
    play(revisionOf(stable[0]!), 0.9);
    await edit('slower', { engine: { maxNumSeqs: 5 } });
    const { message } = await world.condition('slower', 'CanaryPassing', 'False', 'CanaryWorse');
    expect(message).toMatch(/the first token takes 9\d\d\.\d ms, of the stable revision 2\d\d\.\d ms/);
    later(16);
    await gone('slower');
    await world.condition('slower', 'Ready', 'False', 'RolledBack');
    expect(uidsOf(await podsOf('slower'))).toEqual(uidsOf(stable));
  });

  test('promotes one that is no worse once its time is over, and not before', async () => {
    const steps = [{ weight: 50, pauseSeconds: 300 }];
    const stable = await ready('equal', { steps, analysis: { minRequests: 20 } });
    metricsOf = () => '';
    await edit('equal', { engine: { maxNumSeqs: 5 } });
    await inStep('equal', 1);
    later(301);
    await world.condition('equal', 'CanaryPassing', 'Unknown', 'TooFewRequests');
    play(revisionOf(stable[0]!), 0.2);
    await eventually('promotion', async () => (await stageOf('equal'))?.phase === 'promoting');
    await eventually(
      'no Deployment of the canary',
      async () => (await world.get(deployments, 'equal-canary')) === null,
    );
    later(16);
    await world.condition('equal', 'Ready', 'True');
  });
});

test('the sample is taken as it is written, with the defaults of its analysis', async () => {
  await world.makeNamespace('experimental');
  const sample = readFileSync(new URL('../../deploy/samples/canary.yaml', import.meta.url), 'utf8');
  await new Kubectl(world.api.kubeConfig()).output(['apply', '--validate=strict', '-f', '-'], sample);
  const path = objectPath(resources.llmServices, 'experimental', 'demo');
  expect((await world.api.admin.find<KubeObject>(path))?.['spec']).toMatchObject({
    canary: {
      steps: [{ weight: 0, mirrorPercent: 10 }, { weight: 5 }, { weight: 50, mirrorPercent: 0 }],
      analysis: { maxErrorPoints: 1, maxTokenTimeIncreasePercent: 25 },
    },
  });
});

test('istio divides as the Gateway API does', async () => {
  await ready('mesh', { steps: [{ weight: 30, mirrorPercent: 5 }] }, { provider: 'istio' });
  await edit('mesh', { engine: { maxNumSeqs: 5 } });
  await inStep('mesh', 1);
  const { http } = (await world.get(virtualServices, 'mesh'))?.['spec'] as {
    http: Record<string, unknown>[];
  };
  expect(http).toHaveLength(9);
  const [first, , , , , , last] = http;
  expect(first).toMatchObject({
    match: [{ headers: { 'x-llmservice-canary': { exact: 'always' } } }],
    route: [{ weight: 0 }, { destination: { host: 'mesh-canary.default.svc.cluster.local' }, weight: 100 }],
  });
  expect(last).toMatchObject({
    route: [{ weight: 70 }, { weight: 30 }],
    mirror: { host: 'mesh-canary.default.svc.cluster.local' },
    mirrorPercentage: { value: 5 },
  });
  await eventually('its DestinationRule', () => world.get(destinationRules, 'mesh-canary'));
  await world.delete(resources.llmServices, 'mesh');
  await eventually(
    'deletion',
    async () => (await world.get<Deployment>(deployments, 'mesh-canary')) === null,
  );
});
