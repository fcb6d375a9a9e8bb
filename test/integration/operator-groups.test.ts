// Replicas on several nodes on a real API server with the definition that LWS publishes, by the rights that the operator's chart
// gives. LWS's controller is played; test/bench/groups.ts runs the real one.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { groupLabels } from '@llmservice/crds';
import { collectionPath, objectPath, resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually, settled } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';
import { manifests, plan } from './plan-command.js';
import { installLeaderWorkerSetCrd } from './published-crds.js';
import { rawLayers, RegistryServer } from './registry-server.js';

jest.setTimeout(180_000);

const { leaderWorkerSets, llmServices, pods, services, deployments } = resources;
const crdPath =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io';

let world: World;
let kubectl: Kubectl;

beforeAll(async () => {
  world = await World.start();
  kubectl = new Kubectl(world.api.kubeConfig());
  world.s3.put('models', 'llama', llamaCheckpoint());
  world.startOperator();
  await world.createService('chat', chat());
}, 180_000);
afterAll(() => world.stop());

const chat = () => ({
  model: world.model('models/llama/'),
  accelerator: { devices: 2 },
  parallelism: { nodes: 2 },
  resources: { limits: { memory: '1Gi' } },
});
const set = () => eventually('the set', () => world.get(leaderWorkerSets, 'chat-group').catch(() => null));
const message = async (type: string, status: string, reason: string) =>
  (await world.condition('chat', type, status, reason)).message;

/** What LWS's controller makes of the set: a pod of its first group, with the labels and the owner that it gives it. */
async function makePod(worker: number): Promise<string> {
  const { spec } = (await set()) as never as {
    spec: { leaderWorkerTemplate: { workerTemplate: { metadata: { labels: object }; spec: object } } };
  };
  const { metadata, spec: podSpec } = spec.leaderWorkerTemplate.workerTemplate;
  const name = worker === 0 ? 'chat-group-0' : `chat-group-0-${String(worker)}`;
  const owner = worker === 0 ? 'chat-group' : 'chat-group-0';
  const own = {
    [groupLabels.set]: 'chat-group',
    [groupLabels.group]: '0',
    [groupLabels.worker]: String(worker),
  };
  await world.create({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ ...metadata, name, namespace: 'default', labels: { ...metadata.labels, ...own } },
      finalizers: ['example.org/kubelet'],
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: owner, uid: owner, controller: true },
      ],
    },
    spec: podSpec,
  });
  return name;
}

test('without the definition the status says what to install, and there are no pods', async () => {
  expect(await message('Scheduled', 'False', 'LeaderWorkerSetMissing')).toContain(
    'install LWS (https://lws.sigs.k8s.io)',
  );
  expect(await world.get(deployments, 'chat')).toBeNull();
});

test('once it is installed there is a set, which nobody has to write again', async () => {
  await installLeaderWorkerSetCrd(kubectl);
  expect((await set())['spec']).toMatchObject({
    replicas: 1,
    leaderWorkerTemplate: { size: 2, restartPolicy: 'RecreateGroupOnPodRestart' },
  });
  expect(await message('Scheduled', 'Unknown', 'NoPods')).toContain("check that LWS's controller runs");
  const written = () =>
    world.api.writes().filter(({ resource }) => resource === leaderWorkerSets.plural).length;
  const before = await settled('writes of the set', written);
  await world.patch(llmServices, 'chat', { metadata: { annotations: { touched: 'yes' } } });
  await settled('writes of the set', written);
  expect(written()).toBe(before);
});

test('a set whose pods the API server would leave without their image is not written', async () => {
  const registry = await RegistryServer.start();
  try {
    await registry.push('mounted', 'v1', rawLayers(llamaCheckpoint()));
    const uri = `oci://${registry.host}/mounted:v1`;
    await world.createService('mounted', {
      model: { uri, oci: { plainHttp: true, delivery: 'imageVolume' } },
      accelerator: { devices: 2 },
      parallelism: { nodes: 2 },
      resources: { limits: { memory: '1Gi' } },
    });
    await world.condition('mounted', 'Stalled', 'True', 'ImageVolumesNotServed');
    expect(await world.get(leaderWorkerSets, 'mounted-group')).toBeNull();
  } finally {
    await registry.stop();
  }
});

test('the leader answers for the group', async () => {
  for (const worker of [0, 1]) await makePod(worker);
  await world.podServes('chat-group-0-1');
  expect((await world.status('chat')).readyReplicas).toBe(0);
  await world.podServes('chat-group-0');
  await world.condition('chat', 'Ready', 'True');
  expect(await world.status('chat')).toMatchObject({
    readyReplicas: 1,
    selector: `llmservice.dev/service=chat,${groupLabels.worker}=0`,
  });
  expect((await world.get(services, 'chat'))?.['spec']).toMatchObject({
    selector: { [groupLabels.worker]: '0' },
  });
});

test('a plan beside it reads the image of the set, and says how its groups would be replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-groups-'));
  try {
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, world.api.kubeConfig().exportConfig());
    const compared = async (engine: object) => {
      const input = manifests(llmService('chat', { ...chat(), engine }));
      const { report } = await plan(['-f', '-', '--diff', '-o', 'json'], input, { KUBECONFIG: kubeconfig });
      return report().services[0]!;
    };
    const same = await compared({});
    expect(same.disruption).toEqual({ kind: 'nothing' });
    expect(same.changes!.filter(({ change }) => change !== 'none')).toEqual([]);
    const other = await compared({ maxNumSeqs: 7 });
    expect(other.disruption).toEqual({ kind: 'surge', groups: { size: 2, count: 1 } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a worker that is deleted is named until the group answers again', async () => {
  await world.delete(pods, 'chat-group-0-1');
  await world.delete(pods, 'chat-group-0');
  expect(await message('Loaded', 'False', 'GroupRestarted')).toBe(
    'The group chat-group-0 starts again as one, since its pod chat-group-0-1 (worker 1) was deleted.',
  );
  for (const name of ['chat-group-0-1', 'chat-group-0'])
    await world.patch(pods, name, { metadata: { finalizers: null } });
  for (const name of ['chat-group-0-1', 'chat-group-0'])
    await eventually(`${name} is gone`, async () => (await world.get(pods, name)) === null);
  await message('Loaded', 'False', 'GroupRestarted');
  for (const worker of [0, 1]) await world.podServes(await makePod(worker));
  await world.condition('chat', 'Ready', 'True');
});

test('a definition that goes, and rights with it, leaves the pods as they are', async () => {
  await world.request('DELETE', crdPath);
  expect(await message('Scheduled', 'False', 'LeaderWorkerSetMissing')).toContain(
    'does not serve LeaderWorkerSet',
  );
  const names = (await world.list(pods, 'llmservice.dev/service=chat')).map(({ metadata }) => metadata.name);
  expect(names.sort()).toEqual(['chat-group-0', 'chat-group-0-1']);
});

test.each([
  ['from several', 'chat', 1],
  ['to several', 'plain', 2],
])('a service does not change %s nodes', async (_, name, nodes) => {
  if (name === 'plain')
    await world.createService(name, { model: world.model('models/llama/'), accelerator: { devices: 2 } });
  await expect(world.patch(llmServices, name, { spec: { parallelism: { nodes } } })).rejects.toThrow(
    /parallelism\.nodes never changes to or from 1/,
  );
});

test('a name that leaves no room for those of the pods is refused', async () => {
  const parallelism = { nodes: 2 };
  const spec = { model: world.model('models/llama/'), accelerator: { devices: 2 }, parallelism };
  await expect(world.createService('x'.repeat(44), spec)).rejects.toThrow(/at most 43 characters/);
});

test('the sample is taken as it is written', async () => {
  await world.makeNamespace('experimental');
  const sample = readFileSync(new URL('../../deploy/samples/several-nodes.yaml', import.meta.url), 'utf8');
  await kubectl.output(['apply', '--validate=strict', '-f', '-'], sample);
  const found = await world.api.admin.get<{ items: KubeObject[] }>(
    collectionPath(llmServices, 'experimental'),
  );
  const [{ metadata }] = found.items as [KubeObject];
  expect(
    (await world.api.admin.find<KubeObject>(objectPath(llmServices, 'experimental', metadata.name)))?.[
      'spec'
    ],
  ).toMatchObject({ parallelism: { nodes: 2 } });
});
