// An operator of several namespaces, with a role in each: one that is closed to it is left out, and holds up no other.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { KubeClient } from '../../operator/src/kube/client.js';
import { objectPath, resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { grantOperatorRole } from './operator-role.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;
let operator: RunningOperator;
const asked: string[] = [];

beforeAll(async () => {
  world = await World.start(true);
  world.s3.put('models', 'llama', llamaCheckpoint());
  await grantOperatorRole(world, 'team-a');
  await world.makeCredentials('team-a');
  await world.makeNamespace('closed');
  await world.makeCredentials('closed');
  await world.makeNamespace('foreign');
  const client = new KubeClient(world.api.kubeConfig('operator'), (_, path) => asked.push(path));
  operator = world.startOperator(
    { watchNamespace: 'default,team-a,closed', timing: { unsyncedMs: 3_000 } },
    client,
  );
}, 600_000);
afterAll(() => world.stop());

const create = (name: string, namespace: string): Promise<unknown> =>
  world.create(
    llmService(
      name,
      { model: world.model('models/llama/'), resources: { limits: { memory: '1Gi' } } },
      { namespace },
    ),
  );
const deployed = (name: string, namespace: string): Promise<unknown> =>
  eventually(
    `${namespace}/${name}`,
    () => world.api.admin.find(objectPath(resources.deployments, namespace, name)),
    60_000,
  );
const unserved = async (namespace: string): Promise<boolean> =>
  (await operator.operator.metrics.registry.metrics()).includes(
    `unserved_resource{resource="llmservices",namespace="${namespace}",why="forbidden"} 1`,
  );

test('services of all that it may read are looked after, while another is closed to it', async () => {
  for (const namespace of ['default', 'team-a', 'closed', 'foreign']) await create('one', namespace);
  await deployed('one', 'default');
  await deployed('one', 'team-a');
  await eventually('the metric', () => unserved('closed'));
  expect(operator.operator.notReady()).toBeNull();
  expect(asked.filter((path) => path.includes('/foreign/'))).toEqual([]);
});

test('one that is opened is looked after from then on', async () => {
  await grantOperatorRole(world, 'closed');
  await deployed('one', 'closed');
  expect(await unserved('closed')).toBe(false);
});

test('one that is taken away leaves the others as they are', async () => {
  const group = '/apis/rbac.authorization.k8s.io/v1/namespaces/team-a';
  await world.request('DELETE', `${group}/rolebindings/llmservice-operator`, {});
  // Open watches continue; the next is refused.
  await world.api.restart();
  await eventually('the metric', () => unserved('team-a'), 120_000);
  await create('two', 'default');
  await create('two', 'team-a');
  await deployed('two', 'default');
  const path = objectPath(resources.deployments, 'team-a', 'two');
  expect(await world.api.admin.find(path)).toBeNull();
  expect(await world.api.admin.find(objectPath(resources.deployments, 'team-a', 'one'))).not.toBeNull();
  expect(operator.operator.leading).toBe(true);
});
