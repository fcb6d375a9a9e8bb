// A tenant that may write ControllerRevisions in its own namespace, and what it tries to have the operator write with the
// operator's rights. Against the real API server, under the chart's role.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { World, type RunningOperator } from '../integration/operator-world.js';
import { WatchedClient } from '../integration/watched-client.js';
import { eventually } from '../processes.js';

jest.setTimeout(180_000);

const oneGi = { resources: { limits: { memory: '1Gi' } } };
const { controllerRevisions, llmServices, configMaps } = resources;
const upgraded = { images: { cpu: 'example.org/runtime:2', cuda: null, hip: null } };

interface Data {
  readonly config: string;
  readonly template: { readonly metadata: object; readonly spec: object };
}

let world: World;
let client: WatchedClient;
let operator: RunningOperator;

// Items of a list carry no kind of their own.
const { apiVersion, kind } = controllerRevisions;
const revisions = async (): Promise<KubeObject[]> =>
  (await world.list(controllerRevisions, 'llmservice.dev/service=main')).map((item) => ({
    ...item,
    apiVersion,
    kind,
  }));
const templateOf = async (): Promise<object> => (await world.deployment('main')).spec?.template ?? {};

async function start(change: object = {}): Promise<void> {
  client = new WatchedClient(world.api.kubeConfig('operator'));
  operator = world.startOperator({ timing: { resyncMs: 200 }, ...change }, client);
  await eventually('leadership', () => operator.operator.leading);
}

/** The operator has reconciled the service, and brought it to this. */
async function scaled(replicas: number): Promise<void> {
  await world.patch(llmServices, 'main', { spec: { replicas } });
  await eventually(
    `${replicas} replicas`,
    async () => (await world.deployment('main')).spec?.replicas === replicas,
  );
}

/** What the operator stored, changed and put there by somebody else, as the newest. */
async function forge(suffix: string, data: object): Promise<KubeObject> {
  const [genuine] = await revisions();
  const { labels, annotations, ownerReferences } = genuine!.metadata;
  return world.create({
    apiVersion,
    kind,
    metadata: { name: `main-${suffix}`, namespace: 'default', labels, annotations, ownerReferences },
    revision: 1_000,
    data,
  });
}

async function genuineData(): Promise<Data> {
  const [genuine] = await revisions();
  return genuine!['data'] as Data;
}

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  await world.makeNamespace('victim');
  await start();
  await world.createService('main', { model: world.model('models/llama/'), ...oneGi });
  await world.deployment('main');
}, 180_000);

afterAll(() => world.stop());

test('what is stored is data alone: no object to apply', async () => {
  const { config, template } = await genuineData();
  expect(Object.keys((await revisions())[0]!['data'] as object).sort()).toEqual(['config', 'template']);
  expect(JSON.parse(config)).toMatchObject({ model: { name: 'main' } });
  expect(Object.keys(template).sort()).toEqual(['metadata', 'spec']);
});

test('forged revisions have nothing written beyond the service, and are removed', async () => {
  const before = await templateOf();
  const { template, config } = await genuineData();
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'take-over' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  };
  const elsewhere = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'planted', namespace: 'victim' },
    data: { 'engine-config.json': config },
  };
  const pod = { ...elsewhere, kind: 'Pod', spec: { containers: [{ name: 'a', image: 'evil' }] } };
  await operator.stop();
  const forged = [
    await forge('0000000001', { configMap: binding, template }),
    await forge('0000000002', { configMap: elsewhere, template }),
    await forge('0000000003', { configMap: pod, template }),
    await forge('0000000004', {
      config,
      template: { ...template, spec: { ...template.spec, hostNetwork: true } },
    }),
    await forge('0000000005', { config, template: 7 }),
    await forge('0000000006', {}),
  ];
  await start();
  await scaled(2);
  await eventually('forged revisions removed', async () => (await revisions()).length === 1);
  expect(forged).toHaveLength(6);
  expect(await templateOf()).toEqual(before);
  expect(client.writes.filter((write) => !/\/namespaces\/default\//.test(write))).toEqual([]);
  expect(await world.api.admin.find('/api/v1/namespaces/victim/configmaps/planted')).toBeNull();
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/take-over';
  expect(await world.api.admin.find(path)).toBeNull();
  process.stderr.write(`${forged.length} forged revisions removed; writes: ${client.writes.join(', ')}\n`);
});

test('one under the name of the genuine one is replaced by that', async () => {
  const { template, config } = await genuineData();
  const [genuine] = await revisions();
  const suffix = genuine!.metadata.name.slice('main-'.length);
  await operator.stop();
  const copy = { ...genuine!.metadata };
  await world.delete(controllerRevisions, copy.name);
  await world.create({
    ...genuine,
    metadata: {
      name: `main-${suffix}`,
      namespace: 'default',
      labels: copy.labels,
      annotations: copy.annotations,
      ownerReferences: copy.ownerReferences,
    },
    data: { config, template: { ...template, spec: { ...template.spec, hostPID: true } } },
  });
  await start();
  await eventually('the genuine one', async () => {
    const [only, ...others] = await revisions();
    return others.length === 0 && JSON.stringify(only?.['data']) === JSON.stringify({ config, template });
  });
});

test('what an older operator stored is read, and its upgrade restarts no pod', async () => {
  const before = await templateOf();
  const { template, config } = await genuineData();
  const [genuine] = await revisions();
  const { name, labels, annotations, ownerReferences } = genuine!.metadata;
  const [configMap] = await world.list(configMaps, 'llmservice.dev/service=main');
  await operator.stop();
  await world.delete(controllerRevisions, name);
  await world.create({
    ...genuine,
    metadata: { name, namespace: 'default', labels, annotations, ownerReferences },
    data: {
      configMap: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: configMap!.metadata,
        data: { 'engine-config.json': config },
      },
      template,
    },
  });
  await start({ capabilities: upgraded });
  await scaled(1);
  expect(await templateOf()).toEqual(before);
  expect((await revisions()).map(({ metadata }) => metadata.name)).toEqual([name]);
  expect((await world.list(configMaps, 'llmservice.dev/service=main'))[0]?.metadata.uid).toBe(
    configMap!.metadata.uid,
  );
});
