// A service whose route leads to an InferencePool, on a real API server with the definitions that the Gateway API and its
// inference extension publish, and by the rights that the operator's chart gives. The picker's pods and the gateway are played.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { objectPath, resources } from '../../operator/src/kube/resources.js';
import type { HttpRoute, KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually, settled } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { renderChart } from './operator-role.js';
import { World, type RunningOperator } from './operator-world.js';
import { manifests, plan } from './plan-command.js';
import { installInferencePoolCrd, installRouteCrds } from './published-crds.js';

jest.setTimeout(180_000);

const image = 'example.org/picker:1';
const rolePath = '/apis/rbac.authorization.k8s.io/v1/clusterroles/llmservice-operator';
const crdPath =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencepools.inference.networking.k8s.io';
const { httpRoutes, inferencePools, deployments, services, serviceAccounts, llmServices, roleBindings } =
  resources;
const access = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

let world: World;
let kubectl: Kubectl;
let operator: RunningOperator;

beforeAll(async () => {
  world = await World.start();
  kubectl = new Kubectl(world.api.kubeConfig());
  world.s3.put('models', 'llama', llamaCheckpoint());
  await installRouteCrds(kubectl);
  const [deployment] = chartWith(image, 'deployment');
  expect(JSON.stringify(deployment)).toContain(`{"name":"ENDPOINT_PICKER_IMAGE","value":"${image}"}`);
  operator = await install(image);
  await world.createService('chat', chat());
}, 180_000);

afterAll(() => world.stop());

const chat = () => ({
  model: world.model('models/llama/'),
  resources: { limits: { memory: '1Gi' } },
  routing: { host: 'chat.example.org', backend: 'inferencePool' as const },
});

/** Of the operator's chart with this image of pickers. */
function chartWith(picker: string, template: string): KubeObject[] {
  const settings = `gateway.name=public,gateway.namespace=gateways,endpointPicker.image=${picker}`;
  const shown = ['--show-only', `templates/${template}.yaml`];
  return renderChart('llmservice-operator', '--set', settings, ...shown);
}

/** An operator with this image of pickers (empty: none) and the rights that its chart then gives. */
async function install(picker: string): Promise<RunningOperator> {
  const role = chartWith(picker, 'rbac').find(({ kind }) => kind === 'ClusterRole');
  await world.request('PATCH', rolePath, { rules: role!['rules'] }, 'application/merge-patch+json');
  return world.startOperator({ capabilities: { endpointPickerImage: picker === '' ? null : picker } });
}

/** The kinds that the route leads to, in the order of its rules. */
async function backends(): Promise<string[]> {
  const { spec } = (await world.get(httpRoutes, 'chat')) as never as {
    spec: { rules: { backendRefs: { kind: string }[] }[] };
  };
  return spec.rules.map(({ backendRefs }) => backendRefs[0]!.kind);
}
const leadsTo = (...kinds: string[]) =>
  eventually(`a route to ${kinds.join()}`, async () => (await backends()).join() === kinds.join());
/** The gateway is asked by a rule that no request meets. */
const asking = ['Service', 'InferencePool'] as const;
const pooled = [...asking, 'InferencePool'] as const;
async function taken(): Promise<void> {
  await leadsTo(...asking);
  await world.acceptRoute('chat', 'as it is');
  await leadsTo(...pooled);
}
const pickers = (readyReplicas: number) =>
  world.patch(deployments, 'chat-picker', { status: { replicas: 1, readyReplicas } }, '/status');
const update = (change: object) => world.patch(llmServices, 'chat', change);
const gone = async (resource: (typeof resources)[keyof typeof resources], name: string) =>
  eventually(`no ${resource.kind}`, async () => (await world.get(resource, name)) === null);
async function routed(reason: string): Promise<string> {
  await eventually('a route', () => world.get(httpRoutes, 'chat'));
  await world.acceptRoute('chat', 'as it is');
  return (await world.condition('chat', 'Routed', 'True', reason)).message;
}

test('a cluster without InferencePool has a plain route, and the status says what is missing', async () => {
  expect(await routed('InferencePoolMissing')).toContain(
    'Install the CRDs of the Gateway API Inference Extension',
  );
  expect(await backends()).toEqual(['Service']);
  expect(await world.get(deployments, 'chat-picker')).toBeNull();
});

describe('once the cluster knows InferencePool', () => {
  test('a pool and a picker are there, and the route waits for the picker', async () => {
    await installInferencePoolCrd(kubectl);
    const pool = await eventually('the pool', () => world.get(inferencePools, 'chat').catch(() => null));
    expect(pool['spec']).toMatchObject({ endpointPickerRef: { name: 'chat-picker', kind: 'Service' } });
    await world.deployment('chat-picker');
    for (const each of [services, serviceAccounts, roleBindings])
      await eventually(each.kind, () => world.get(each, 'chat-picker'));
    await leadsTo(...asking);
    expect(await routed('EndpointPickerPending')).toContain('chat-picker');
    expect(await backends()).toEqual(asking);
  });

  test.each([
    ['pods', '', 'list', true],
    ['inferencepools', 'inference.networking.k8s.io', 'watch', true],
    ['secrets', '', 'list', false],
    ['pods', '', 'delete', false],
  ])('its picker may, with %s of "%s", %s: %s', async (resource, group, verb, allowed) => {
    const spec = {
      user: 'system:serviceaccount:default:chat-picker',
      resourceAttributes: { namespace: 'default', resource, group, verb },
    };
    const { status } = await world.request<KubeObject & { status: object }>('POST', access, { spec });
    expect(status).toMatchObject({ allowed });
  });

  test('the route leads to the pool while the picker is ready', async () => {
    await pickers(1);
    await leadsTo(...pooled);
    expect(await routed('InferencePool')).toContain('The gateway forwards chat.example.org.');
    await pickers(0);
    await leadsTo(...asking);
    await pickers(1);
    await taken();
  });

  test('a plan beside the cluster has the same objects, and would change none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-pool-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, world.api.kubeConfig().exportConfig());
      const input = manifests(llmService('chat', chat()));
      const { report } = await plan(['-f', '-', '--diff', '-o', 'json'], input, { KUBECONFIG: kubeconfig });
      const { objects, changes } = report().services[0]!;
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(names).toEqual(expect.arrayContaining(['InferencePool chat', 'Deployment chat-picker']));
      expect(changes!.filter(({ change }) => change !== 'none')).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a look that changes the number of pods alone writes nothing else', async () => {
    const written = () =>
      world.api.writes().filter(({ user, resource }) => user === 'operator' && resource !== 'leases');
    const before = await settled('what is written', () => written().length);
    await update({ spec: { replicas: 2 } });
    await eventually('a write', () => written().length > before);
    await settled('what is written', () => written().length);
    const kinds = written()
      .slice(before)
      .map(({ resource, name }) => `${resource} ${name}`);
    expect([...new Set(kinds)].sort()).toEqual(['deployments chat', 'llmservices chat']);
  });

  test('a gateway that refuses the kind gets the plain route back, and is asked again by the annotation', async () => {
    const route = (await world.get(httpRoutes, 'chat')) as HttpRoute;
    const condition = {
      type: 'ResolvedRefs',
      status: 'False',
      reason: 'InvalidKind',
      message: 'Group is invalid',
      observedGeneration: route.metadata.generation,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const parentRef = { name: 'public', namespace: 'gateways' };
    const parents = [{ parentRef, controllerName: 'example.org/gateway', conditions: [condition] }];
    await world.patch(httpRoutes, 'chat', { status: { parents } }, '/status');
    await leadsTo('Service');
    expect(await routed('InferencePoolRefused')).toContain(annotations.retry);
    await gone(deployments, 'chat-picker');
    await gone(inferencePools, 'chat');
    await update({ metadata: { annotations: { [annotations.retry]: '1' } } });
    await world.deployment('chat-picker');
    await pickers(1);
    await taken();
  });

  test('a service that wants no pool any more keeps its route and none of the pool', async () => {
    await update({ spec: { routing: { backend: 'service' } } });
    await leadsTo('Service');
    for (const resource of [deployments, services]) await gone(resource, 'chat-picker');
    await gone(inferencePools, 'chat');
    // The operator may delete no rights: they go with the service, to which they belong.
    expect((await world.get(roleBindings, 'chat-picker'))?.metadata.ownerReferences).toMatchObject([
      { kind: 'LlmService', name: 'chat' },
    ]);
    expect(await routed('Accepted')).toBe('The gateway forwards chat.example.org.');
  });

  test('an operator whose chart names no picker any more, and may no longer make one, removes all but its rights', async () => {
    await update({ spec: { routing: { backend: 'inferencePool' } } });
    await world.deployment('chat-picker');
    await pickers(1);
    await taken();
    await operator.stop();
    operator = await install('');
    await leadsTo('Service');
    for (const resource of [deployments, services]) await gone(resource, 'chat-picker');
    await gone(inferencePools, 'chat');
    await routed('EndpointPickerNotConfigured');
    await operator.stop();
    operator = await install(image);
  });

  test('a definition that is removed takes the pool from the route', async () => {
    await world.deployment('chat-picker');
    await pickers(1);
    await taken();
    await world.request('DELETE', crdPath);
    await leadsTo('Service');
    await routed('InferencePoolMissing');
    await gone(deployments, 'chat-picker');
  });
});

test('the sample is taken as it is written', async () => {
  await world.makeNamespace('experimental');
  const sample = readFileSync(new URL('../../deploy/samples/inference-pool.yaml', import.meta.url), 'utf8');
  await kubectl.output(['apply', '--validate=strict', '-f', '-'], sample);
  const path = objectPath(llmServices, 'experimental', 'demo');
  expect((await world.api.admin.find<KubeObject>(path))?.['spec']).toMatchObject({
    routing: { backend: 'inferencePool' },
  });
});
