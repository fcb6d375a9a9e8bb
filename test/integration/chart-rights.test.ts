// What each of the accounts that the operator's chart knows may and may not do, asked of a real API server with the
// account's own token: the operator, the activator, and two teams that share the cluster.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { Waker } from '../../operator/src/activator/waker.js';
import { collectionPath, objectPath, resources, type Resource } from '../../operator/src/kube/resources.js';
import type { KubeRequest } from '../../operator/src/kube/client.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llmService } from '../builders/llm-service.js';
import { World } from './operator-world.js';
import { accountNames, silent, system, Tenants, type Account } from './tenants.js';

jest.setTimeout(120_000);

let world: World;
let tenants: Tenants;
const { llmServices, secrets, deployments, pods, configMaps, controllerRevisions, httpRoutes } = resources;
const servicePath = objectPath(llmServices, 'team-a', 'demo');
const mergePatch = (body: object, path = servicePath): KubeRequest => ({
  method: 'PATCH',
  path,
  body,
  contentType: 'application/merge-patch+json',
});

beforeAll(async () => {
  world = await World.start();
  tenants = await Tenants.install(world);
  for (const namespace of ['team-a', 'team-b']) {
    await world.create(
      llmService(
        'demo',
        { model: { uri: 's3://bucket/demo/' } },
        { namespace, annotations: { owner: namespace } },
      ),
    );
  }
  await tenants.policyHolds(mergePatch({ metadata: { labels: { probe: 'x' } } }));
}, 300_000);

afterAll(async () => {
  tenants.stop();
  await world.stop();
});

const get = (resource: Resource, namespace: string, name: string): KubeRequest => ({
  method: 'GET',
  path: objectPath(resource, namespace, name),
});
const list = (resource: Resource, namespace: string): KubeRequest => ({
  method: 'GET',
  path: collectionPath(resource, namespace),
});
const create = (resource: Resource, namespace: string, more: object = {}): KubeRequest => ({
  method: 'POST',
  path: collectionPath(resource, namespace),
  body: {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name: 'new', namespace },
    ...more,
  },
});
const remove = (resource: Resource, namespace: string, name: string): KubeRequest => ({
  method: 'DELETE',
  path: objectPath(resource, namespace, name),
  // With a body, deletions do not heed the query.
  body: { dryRun: ['All'] },
});
const spec = { spec: { model: { uri: 's3://bucket/x/' } } };
const specPatch = { spec: { replicas: 2 } };
const wake = { metadata: { annotations: { [annotations.lastRequest]: '2026-01-01T00:00:00.000Z' } } };
const podSpec = { spec: { containers: [{ name: 'c', image: 'i' }] } };

/** What is asked for, and who may. What nobody may is asked of everybody. */
const table: readonly (readonly [string, KubeRequest, readonly Account[]])[] = [
  ['read team-a’s services', list(llmServices, 'team-a'), ['operator', 'activator', 'team-a']],
  ['read team-b’s services', list(llmServices, 'team-b'), ['operator', 'activator', 'team-b']],
  ['make a service in team-a', create(llmServices, 'team-a', spec), ['team-a']],
  ['make a service in team-b', create(llmServices, 'team-b', spec), ['team-b']],
  ['change the spec of team-a’s', mergePatch(specPatch), ['team-a']],
  ['scale team-a’s', mergePatch(specPatch, `${servicePath}/scale`), ['operator', 'team-a']],
  [
    'write the status of team-a’s',
    mergePatch({ status: { url: 'x' } }, `${servicePath}/status`),
    ['operator'],
  ],
  ['wake team-a’s', mergePatch(wake), ['activator', 'team-a']],
  ['delete team-a’s', remove(llmServices, 'team-a', 'demo'), ['team-a']],
  ['read a Secret of team-a by its name', get(secrets, 'team-a', 's3'), ['operator']],
  ['list Secrets of team-a', list(secrets, 'team-a'), []],
  ['make a Secret in team-a', create(secrets, 'team-a'), []],
  [
    'label a Secret of team-a',
    mergePatch({ metadata: { labels: { a: 'b' } } }, objectPath(secrets, 'team-a', 's3')),
    [],
  ],
  ['read Secrets of the operator’s namespace', list(secrets, system), []],
  ['make a pod in team-a', create(pods, 'team-a', podSpec), []],
  ['make a ConfigMap in team-a', create(configMaps, 'team-a'), ['operator']],
  ['read revisions of team-a', list(controllerRevisions, 'team-a'), ['operator']],
  ['forge a revision in team-a', create(controllerRevisions, 'team-a', { revision: 1 }), ['operator']],
  ['read Deployments of team-a', list(deployments, 'team-a'), ['operator']],
  // Of a canary that goes, by uid.
  ['delete a Deployment of team-a', remove(deployments, 'team-a', 'demo'), ['operator']],
  ['delete a pod of team-a', remove(pods, 'team-a', 'demo'), []],
  ['make a route in team-a', create(httpRoutes, 'team-a', { spec: {} }), ['operator']],
  [
    'change the operator',
    mergePatch({ spec: { replicas: 0 } }, objectPath(deployments, system, 'llmservice-operator')),
    ['operator'],
  ],
  [
    'give itself a role',
    {
      ...create(
        {
          ...secrets,
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          plural: 'rolebindings',
        },
        'team-a',
        {
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        },
      ),
      path: '/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings',
    },
    [],
  ],
  [
    'get another account’s token',
    {
      method: 'POST',
      path: `/api/v1/namespaces/${system}/serviceaccounts/llmservice-operator/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    },
    [],
  ],
];

test.each(table)('%s', async (_, request, may) => {
  for (const account of accountNames) {
    const { status } = await tenants.ask(account, request);
    // Nothing but a refusal for want of rights counts: what is not there may be answered with 404.
    expect([account, status === 403 ? 'may not' : 'may']).toEqual([
      account,
      may.includes(account) ? 'may' : 'may not',
    ]);
  }
});

describe('the activator’s policy', () => {
  test('lets it note a request, which is all that it does', async () => {
    const waker = new Waker(tenants.clients.activator, silent, () => new Date('2026-01-02T03:04:05.678Z'));
    await waker.wake('team-a/demo');
    const { metadata } = await world.api.admin.get<KubeObject>(servicePath);
    expect(metadata.annotations).toEqual({
      owner: 'team-a',
      [annotations.lastRequest]: '2026-01-02T03:04:05.678Z',
    });
  });

  const wakeTime = { [annotations.lastRequest]: '2026-01-01T00:00:00Z' };
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' };
  test.each<[string, object]>([
    ['the spec', specPatch],
    ['the image', { spec: { engine: { image: 'evil.example/x' } } }],
    ['the spec beside the annotation', { ...specPatch, metadata: { annotations: wakeTime } }],
    ['another annotation', { metadata: { annotations: { ...wakeTime, 'llmservice.dev/retry': '1' } } }],
    ['another annotation’s value', { metadata: { annotations: { owner: 'x' } } }],
    ['another annotation away', { metadata: { annotations: { owner: null } } }],
    ['the annotation to what is no time', { metadata: { annotations: { [annotations.lastRequest]: 'x' } } }],
    [
      'the annotation to a long text',
      { metadata: { annotations: { [annotations.lastRequest]: '1'.repeat(9_999) } } },
    ],
    ['labels', { metadata: { labels: { a: 'b' } } }],
    ['finalizers', { metadata: { finalizers: ['evil.example/x'] } }],
    ['owners', { metadata: { ownerReferences: [owner] } }],
  ])('refuses to change %s', async (_, body) => {
    const { status, message } = await tenants.ask('activator', mergePatch(body));
    expect(status).toBe(403);
    expect(message).toMatch(
      /ValidatingAdmissionPolicy 'llmservice-system-llmservice-operator-activator'.*denied/,
    );
    // The rule binds the activator alone.
    expect((await tenants.ask('team-a', mergePatch(body))).status).toBe(200);
  });

  test('refuses other ways to write: server-side apply, and a whole object', async () => {
    const object = await world.api.admin.get<KubeObject>(servicePath);
    const changed = { ...object, spec: { ...(object['spec'] as object), replicas: 3 } };
    const { name, namespace, labels, annotations: notes } = object.metadata;
    const metadata = { name, namespace, labels, annotations: notes };
    const applied = await tenants.ask('activator', {
      method: 'PATCH',
      path: servicePath,
      query: { fieldManager: 'x', force: true },
      body: { ...changed, metadata },
      contentType: 'application/apply-patch+yaml',
    });
    expect(applied.message).toContain('does not change the spec');
    expect((await tenants.ask('activator', { method: 'PUT', path: servicePath, body: changed })).status).toBe(
      403,
    );
  });
});
