// Classes of a platform on a real API server: what services take from them, what a change of a class leaves alone, and classes
// that are missing, gone, not served or not readable.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { parseAllDocuments } from 'yaml';
import { collectionPath, objectPath, resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(120_000);

const { llmServices, llmServiceClasses, httpRoutes } = resources;
let world: World;
let kubectl: Kubectl;
let operator: RunningOperator;

beforeAll(async () => {
  world = await World.start();
  kubectl = new Kubectl(world.api.kubeConfig());
  world.s3.put('models', 'llama', llamaCheckpoint());
  // It leads before the CRD is there, as after an upgrade of its image alone.
  operator = world.startOperator();
  await createService('before');
  await world.condition('before', 'ModelResolved', 'True');
}, 240_000);
afterAll(() => world.stop());

const createService = (name: string, spec: object = {}) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    ...spec,
  });
const createClass = (name: string, spec: object) =>
  world.request('POST', collectionPath(llmServiceClasses, null), {
    apiVersion: llmServiceClasses.apiVersion,
    kind: llmServiceClasses.kind,
    metadata: { name },
    spec,
  });
const patchClass = (name: string, spec: object) =>
  world.request('PATCH', objectPath(llmServiceClasses, null, name), { spec }, 'application/merge-patch+json');
const removeClass = (name: string) => world.request('DELETE', objectPath(llmServiceClasses, null, name));
const message = async (name: string, status: string, reason: string) =>
  (await world.condition(name, 'ClassResolved', status, reason)).message;
const selectorOf = async (name: string) =>
  (
    (await world.deployment(name)).spec?.template as KubeObject & {
      spec?: { nodeSelector?: Record<string, string> };
    }
  ).spec?.nodeSelector;

test('a class that the cluster cannot have is said, with the chart that brings it', async () => {
  await createService('early', { className: 'team' });
  expect(await message('early', 'False', 'ClassNotServed')).toContain('llmservice-operator');
  expect((await world.condition('early', 'ModelResolved', 'False')).message).toContain('spec.className');
  await kubectl.installCrd('llmserviceclasses');
});

test('a class that is not there is said with its name, and taken when it comes', async () => {
  expect(await message('early', 'False', 'ClassNotFound')).toContain(
    'LlmServiceClass team, which does not exist',
  );
  await createClass('team', {
    defaults: { nodeSelector: { pool: 'a' }, routing: { hostSuffix: 'models.example.org' } },
  });
  expect(await message('early', 'True', 'Resolved')).toBe(
    'Generation 1 of LlmServiceClass team gives nodeSelector, routing.host.',
  );
  await world.condition('early', 'ModelResolved', 'True');
  expect(await selectorOf('early')).toEqual({ pool: 'a' });
  const route = await eventually('the route', () => world.get(httpRoutes, 'early'));
  expect(route).toMatchObject({ spec: { hostnames: ['early.default.models.example.org'] } });
  expect(await world.status('early')).toMatchObject({
    class: { name: 'team', generation: 1, values: { nodeSelector: { pool: 'a' } } },
    url: 'http://early.default.models.example.org/',
  });
});

test('a host that a class gave is taken for others', async () => {
  await createService('other', { routing: { host: 'early.default.models.example.org' } });
  await world.condition('other', 'Routed', 'False', 'HostTaken');
});

describe('a change of the class', () => {
  let before: KubeObject;

  test('rolls nobody, and is said', async () => {
    before = await world.deployment('early');
    await patchClass('team', { defaults: { nodeSelector: { pool: 'b' } } });
    expect(await message('early', 'True', 'NewerGeneration')).toContain(
      'Generation 2 has other values of nodeSelector',
    );
    expect((await world.deployment('early')).metadata.generation).toBe(before.metadata.generation);
  });

  test('is for new services at once', async () => {
    await createService('late', { className: 'team' });
    await world.condition('late', 'ModelResolved', 'True');
    await eventually('its pods', async () => (await selectorOf('late'))?.['pool'] === 'b');
  });

  test('does not come with another number of replicas', async () => {
    await world.patch(llmServices, 'early', { spec: { replicas: 2 } });
    await eventually('two', async () => (await world.deployment('early')).spec?.replicas === 2);
    expect(await selectorOf('early')).toEqual({ pool: 'a' });
  });

  test('comes when the annotation asks for it', async () => {
    await world.patch(llmServices, 'early', {
      metadata: { annotations: { [annotations.refreshClass]: '1' } },
    });
    await eventually('its pods', async () => (await selectorOf('early'))?.['pool'] === 'b');
    expect(await message('early', 'True', 'Resolved')).toContain('Generation 2');
  });
});

describe('bounds', () => {
  test('refuse what is beyond them with its field, and make nothing', async () => {
    await createClass('small', { bounds: { maxReplicas: 2, uris: ['s3://models/**'], hosts: [] } });
    await createService('large', { className: 'small', replicas: 3, routing: { host: 'a.example' } });
    const text = await message('large', 'False', 'OutOfBounds');
    expect(text).toContain('spec.replicas is 3, and LlmServiceClass small allows 2');
    expect(text).toContain('spec.routing.host is a.example');
    expect((await world.condition('large', 'Stalled', 'True', 'InvalidSpec')).message).toContain(
      'spec.replicas',
    );
    expect(await world.get(resources.deployments, 'large')).toBeNull();
    await world.patch(llmServices, 'large', { spec: { replicas: 2, routing: { host: null } } });
    await message('large', 'True', 'Resolved');
    await eventually('its pods', async () => (await world.deployment('large')).spec?.replicas === 2);
  });

  test('that come later stop nothing, and add nothing', async () => {
    const { metadata } = await world.deployment('large');
    await patchClass('small', { bounds: { maxReplicas: 1, images: [] } });
    expect(await message('large', 'False', 'OutOfBounds')).toContain('spec.replicas is 2');
    // No controller runs that would count its pods.
    await world.request(
      'PATCH',
      `${objectPath(resources.deployments, 'default', 'large')}/status`,
      { status: { replicas: 2 } },
      'application/merge-patch+json',
    );
    expect((await world.condition('large', 'ModelResolved', 'True')).reason).toBe('Resolved');
    expect((await world.deployment('large')).metadata.uid).toBe(metadata.uid);
  });
});

test.each([
  ['spec.defaults.accelerator.profile', { defaults: { accelerator: { profile: 'H 100' } } }],
  ['spec.defaults.routing.hostSuffix', { defaults: { routing: { hostSuffix: '.example.org' } } }],
  ['spec.defaults.env[0].name', { defaults: { env: [{ name: 'LD_PRELOAD', value: 'x' }] } }],
  ['spec.defaults.model.cache.path', { defaults: { model: { cache: { kind: 'hostPath' } } } }],
  ['spec.defaults.replicas', { defaults: { replicas: 2 } }],
  ['spec.bounds.maxReplicas', { bounds: { maxReplicas: 0 } }],
  ['spec.bounds.uris', { bounds: { uris: ['s3://a/**', 's3://a/**'] } }],
])('the API server refuses a class for %s', async (at, spec) => {
  const created = world.api.admin.request({
    method: 'POST',
    path: collectionPath(llmServiceClasses, null),
    query: { dryRun: 'All', fieldValidation: 'Strict' },
    body: {
      apiVersion: llmServiceClasses.apiVersion,
      kind: llmServiceClasses.kind,
      metadata: { name: 'bad' },
      spec,
    },
  });
  await expect(created).rejects.toThrow(at);
});

test('a class that goes leaves what was taken of it, for an operator that starts anew too', async () => {
  const before = await world.deployment('early');
  await removeClass('team');
  expect(await message('early', 'False', 'ClassNotFound')).toContain('What was taken of it stays');
  expect((await world.deployment('early')).metadata.generation).toBe(before.metadata.generation);
  await operator.stop();
  world.startOperator({ identity: 'second' });
  await world.patch(llmServices, 'early', { spec: { replicas: 3 } });
  await eventually('three', async () => (await world.deployment('early')).spec?.replicas === 3);
  expect(await selectorOf('early')).toEqual({ pool: 'b' });
  const { generation } = (await world.deployment('early')).metadata;
  // Another change of the spec has nothing to be planned with: the pods stay.
  await world.patch(llmServices, 'early', { spec: { engine: { maxNumSeqs: 5 } } });
  await world.condition('early', 'Stalled', 'True', 'InvalidSpec');
  expect((await world.deployment('early')).metadata.generation).toBe(generation);
  expect((await world.status('early')).class).toMatchObject({ name: 'team', generation: 2 });
});

test('the API server refuses a service without a class where the sample of a policy says so', async () => {
  const text = readFileSync(new URL('../../deploy/samples/class-required.yaml', import.meta.url), 'utf8');
  await kubectl.output(['apply', '--server-side', '-f', '-'], text);
  await world.makeNamespace('held');
  await kubectl.output(['label', 'namespace', 'held', 'llmservice.dev/class-required=true']);
  const make = (spec: object) =>
    kubectl.run(
      ['create', '--dry-run=server', '-f', '-'],
      JSON.stringify(llmService('demo', { model: { uri: 's3://b/m/' }, ...spec }, { namespace: 'held' })),
    );
  // The API server takes a policy up a while after it has it.
  await eventually('the policy', async () => (await make({})).stderr.includes('spec.className must be'));
  expect((await make({ className: 'cpu-shared' })).code).toBe(0);
});

test('the samples are taken by the API server and by the operator', async () => {
  const text = readFileSync(new URL('../../deploy/samples/class.yaml', import.meta.url), 'utf8');
  await kubectl.output(['apply', '--server-side', '-f', '-'], text);
  const documents = [...parseAllDocuments(text)].map((each) => each.toJS() as KubeObject);
  const services = documents.filter(({ kind }) => kind === llmServices.kind);
  expect(services.length).toBeGreaterThan(0);
  for (const { metadata } of services) {
    const { name, namespace = 'default' } = metadata;
    const status = await eventually(`${name} takes its class`, async () => {
      const found = await world.request('GET', objectPath(llmServices, namespace, name));
      return (found['status'] as { class?: object } | undefined)?.class;
    });
    expect(status).toMatchObject({ name: 'gpu-shared' });
  }
});
