// Every query of the chart's dashboards and rules, asked of a real Prometheus that has scraped a real replica with keys and
// speculation, a prefill pod that computes its prompts, a real operator that manages a service, a real activator and a gateway's
// router: none errs, none reads what nobody exports.

import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import { KubeClient } from '../../operator/src/kube/client.js';
import { prefillName } from '../../operator/src/kube/prefill-name.js';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, freePort } from '../processes.js';
import { ActivatorProcess } from './activator-process.js';
import { entry, Folders } from './keyed-replica.js';
import { grantActivatorRole } from './operator-role.js';
import { World, type RunningOperator } from './operator-world.js';
import { askPrometheus, seriesOf, type QueryResult, type Scrape } from './promcheck.js';
import { renderedObjects, type RenderedObject } from './rendered-monitoring.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { modelRoute, RouterProcess } from './router-process.js';
import { s3Environment } from './s3-server.js';

jest.setTimeout(180_000);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: string }[] };
}
/** By where it stands. */
type Queries = readonly (readonly [place: string, query: string])[];

const system = 'llmservice-system';
/** What Grafana fills in: all services, and windows that hold all scrapes. */
const asGrafana = (query: string): string =>
  query.replaceAll(/\$__(rate_interval|range)/g, '1m').replaceAll(/"\$\w+"/g, '".*"');

const dashboardsOf = (objects: readonly RenderedObject[]): Dashboard[] =>
  objects
    .filter(({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1')
    .flatMap(({ data = {} }) => Object.values(data).map((text) => JSON.parse(text) as Dashboard));

/** Of panels, and of variables the selector whose labels they list. */
function queriesOf({ uid, panels, templating }: Dashboard): Queries {
  const variables = templating.list.flatMap(({ name, query = '' }) => {
    const [, selector] = /^label_values\((.*), \w+\)$/.exec(query) ?? [];
    return selector === undefined ? [] : [[`${uid}, variable ${name}`, asGrafana(selector)] as const];
  });
  const shown = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`${uid}, ${title}`, asGrafana(expr)] as const),
  );
  return [...variables, ...shown];
}

/** Of what did not happen: nothing failed, and nothing was refused by its reason. */
const empty = [
  /^llmservice-fleet, Failed generations/,
  /^llmservice-service, Failed generations/,
  /^llmservice-fleet, Services that are not ready/,
  /^llmservice-operator, (Kinds that are absent|Refused events)/,
  /^llmservice-cost, Refused a second/,
];

let queries: Queries;
let results: readonly QueryResult[];
let exported: ReadonlySet<string>;
let dashboards: readonly Dashboard[];

/** Three times, 15 seconds apart by what Prometheus and the operator take for the time. */
async function scrapes(): Promise<Scrape[]> {
  let now = new Date('2026-01-01T00:00:00Z');
  const folders = new Folders([entry('a'), entry('b')]);
  const world = await World.start();
  let replica: ReplicaProcess | null = null;
  let prefill: ReplicaProcess | null = null;
  let activator: ActivatorProcess | null = null;
  let router: RouterProcess | null = null;
  try {
    await grantActivatorRole(world);
    world.s3.put('models', 'llama', llamaCheckpoint());
    world.s3.put('logs', '', { keep: '' });
    const ports = { PREFILL_PORT: String(await freePort()) };
    prefill = await startPrefill(ports);
    replica = await startReplica(folders, world.s3.endpoint, ports);
    const { url } = replica;
    const client: KubeClient = new KubeClient(world.api.kubeConfig('operator'), (method, path) =>
      operator.metrics.countRequest(method, path),
    );
    const prices = { perHour: new Map([['cpu', 0.5]]), currency: 'EUR' };
    const change = { podBaseUrl: () => url, clock: () => now, prices };
    const { operator }: RunningOperator = world.startOperator(change, client);
    const budget = { deviceHoursPerMonth: 100 };
    const limits = { resources: { limits: { memory: '1Gi' } } };
    const disaggregation = { prefill: { replicas: 1 }, minPromptTokens: 16 };
    await world.createService('demo', {
      model: world.model('models/llama/'),
      ...{ ...limits, budget, disaggregation },
    });
    await world.makePod('demo', 'demo-1');
    await world.podServes('demo-1');
    await world.condition('demo', 'Ready', 'True');
    await prefillIsReady(world);
    activator = await ActivatorProcess.start(world.api);
    await Promise.all([prefill, replica].map((pod) => pod.ready()));
    router = await RouterProcess.start({ routes: [modelRoute('demo', url)] });
    const taken: Scrape[] = [];
    for (let i = 0; i < 3; i++) {
      // As many as the objectives need in an hour.
      for (const key of ['a', 'b', 'a', 'b', 'a', 'b']) await ask(replica.url, key);
      await ask(router.url, 'a', 'demo');
      await ask(router.url, 'a', 'unknown').catch(() => undefined);
      await (
        await activator.send('nobody', {})
      ).answer;
      const atMs = +now;
      const ofPod = { namespace: 'default', service: 'demo', pod: 'demo-1' };
      const text = await (await fetch(`${url}/metrics`)).text();
      taken.push({ atMs, text, target: { job: 'llm-service', ...ofPod } });
      taken.push({
        atMs,
        text: await (await fetch(`${prefill.url}/metrics`)).text(),
        target: { job: 'llm-service', namespace: 'default', prefill_of: 'demo', pod: 'demo-prefill-1' },
      });
      const operated = await operator.metrics.registry.metrics();
      taken.push({
        atMs,
        text: operated,
        target: { job: 'llmservice-operator', namespace: system, pod: 'operator' },
      });
      const activated = await activator.metrics();
      taken.push({
        atMs,
        text: activated,
        target: { job: 'llmservice-activator', namespace: system, pod: 'activator' },
      });
      const ofRouter = { namespace: 'default', gateway: 'all', pod: 'all-gateway-1' };
      taken.push({
        atMs,
        text: await router.metrics(),
        target: { job: 'llmservice-router', ...ofRouter },
      });
      now = new Date(atMs + 15_000);
    }
    return taken;
  } finally {
    await router?.stop();
    await activator?.stop();
    await replica?.stop();
    await prefill?.stop();
    await world.stop();
    folders.remove();
  }
}

const speculative = { method: 'ngram', tokens: 3 };

function startPrefill(ports: NodeJS.ProcessEnv): Promise<ReplicaProcess> {
  const env = { ...ports, DISAGGREGATION_ROLE: 'prefill' };
  return ReplicaProcess.start({ uri: demoCheckpoint, engine: { speculative }, env });
}

/** As the Deployment's controller reports, and the operator after it. */
async function prefillIsReady(world: World): Promise<void> {
  const name = prefillName('demo');
  await world.deployment(name);
  await world.patch(resources.deployments, name, { status: { replicas: 1, readyReplicas: 1 } }, '/status');
  await eventually('a prefill pod in the status', async () => {
    const service = await world.get(resources.llmServices, 'demo');
    return (service?.['status'] as LlmServiceStatus | undefined)?.prefill?.ready === 1;
  });
}

/** With everything that has metrics of its own. */
function startReplica(folders: Folders, endpoint: string, ports: NodeJS.ProcessEnv): Promise<ReplicaProcess> {
  const log = { LLMSERVICE_REQUEST_LOG_URI: 's3://logs/requests', ...s3Environment };
  return ReplicaProcess.start({
    uri: demoCheckpoint,
    endpoint,
    engine: { speculative },
    env: {
      ...{ KEYS_DIR: folders.keys, ACCOUNTING_DIR: folders.accounting, ...log, ...ports },
      ...{ DISAGGREGATION_ROLE: 'decode', PREFILL_HOST: '127.0.0.1', PREFILL_MIN_TOKENS: '16' },
    },
  });
}

let asked = 0;
async function ask(url: string, key: string, model?: string): Promise<void> {
  const headers = { authorization: `Bearer sk-${key}` };
  // Long, and new at its beginning, so that a prefill pod is asked.
  asked += 1;
  const content = `${String(asked)}. ${'What is the capital of France? '.repeat(12)}`;
  const messages = [{ role: 'user', content }];
  const body = JSON.stringify({ model, messages, max_tokens: 24 });
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
}

beforeAll(async () => {
  const [taken, objects] = await Promise.all([scrapes(), renderedObjects()]);
  dashboards = dashboardsOf(objects);
  const rules = objects.flatMap(({ spec }) => spec?.groups ?? []).flatMap((group) => group.rules);
  const recorded = rules.flatMap(({ record, expr }) => (record === undefined ? [] : [{ record, expr }]));
  queries = [
    ...dashboards.flatMap(queriesOf),
    ...rules.map(({ record, alert, expr }) => [`rule ${record ?? alert ?? ''}`, expr] as const),
  ];
  ({ results } = await askPrometheus({
    scrapes: taken,
    rules: recorded,
    queries: queries.map(([, query]) => query),
  }));
  exported = new Set([
    ...taken.flatMap(({ text }) => seriesOf(text)),
    ...recorded.map(({ record }) => record),
  ]);
}, 180_000);

const places = (which: (result: QueryResult, place: string) => boolean): string[] =>
  queries
    .filter(([place], index) => which(results[index]!, place))
    .map(([place, query]) => `${place}: ${query}`);

test('there are five dashboards, each of panels that ask something', () => {
  expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual(
    ['cost', 'engine', 'fleet', 'operator', 'service'].map((name) => `llmservice-${name}`),
  );
  expect(queries.length).toBeGreaterThan(100);
});

test('no query errs', () => {
  expect(
    queries.flatMap(([place], i) =>
      results[i]!.error === undefined ? [] : [`${place}: ${results[i]!.error}`],
    ),
  ).toEqual([]);
});

test('none reads a series that nobody exports', () => {
  const unknown = queries.flatMap(([place], index) =>
    results[index]!.selects.filter((name) => !exported.has(name)).map((name) => `${place}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

describe('data', () => {
  test('is in every panel, but those of what did not happen', () => {
    const without = places(({ samples }, place) => place.startsWith('llmservice-') && samples.length === 0);
    expect(without.filter((place) => !empty.some((pattern) => pattern.test(place)))).toEqual([]);
  });

  test('fires no alert', () => {
    const firing = places(({ samples }, place) => /^rule Llm/.test(place) && samples.length > 0);
    expect(firing).toEqual([]);
  });

  test('is what was served: cost and tokens of keys add up', () => {
    const of = (place: string) => results[queries.findIndex(([each]) => each === place)]!.samples;
    const keys = of('llmservice-cost, Tokens of keys, chosen time');
    expect(keys.map(({ labels }) => labels['key']).toSorted()).toEqual(['a', 'b']);
    const cost = of('llmservice-cost, Cost of keys, chosen time').map(({ value }) => value ?? NaN);
    const [whole] = of('llmservice-cost, Cost by service, chosen time');
    expect(cost.reduce((sum, each) => sum + each, 0)).toBeCloseTo(whole?.value ?? NaN, 9);
    // One CPU at 0.50 an hour.
    expect(of('llmservice-cost, Cost an hour, at present')[0]?.value).toBeCloseTo(0.5, 9);
    expect(whole?.labels['currency']).toBe('EUR');
  });
});
