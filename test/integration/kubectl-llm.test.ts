// `kubectl llm` as the real kubectl finds and runs it, beside a real API server with the operator at work: what a service is
// said to be, and how pods are taken away. What needs a kubelet (chat, logs) is in the e2e tests.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import type { Pod } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { Commands } from './command.js';
import { World } from './operator-world.js';

jest.setTimeout(120_000);

let world: World;
let commands: Commands;

beforeAll(async () => {
  world = await World.start();
  commands = new Commands(world.api);
  world.s3.put('models', 'llama', llamaCheckpoint());
  world.startOperator();
}, 180_000);

afterAll(async () => {
  commands.close();
  await world.stop();
});

async function serving(name: string, pods = 1): Promise<void> {
  const model = world.model('models/llama/');
  await world.createService(name, { model, replicas: pods, resources: { limits: { memory: '1Gi' } } });
  await world.deployment(name);
  for (let pod = 1; pod <= pods; pod += 1) {
    await world.makePod(name, `${name}-${pod}`);
    await world.podServes(`${name}-${pod}`);
  }
  await world.condition(name, 'Ready', 'True');
}

const pod = (name: string): Promise<Pod | null> => world.get<Pod>(resources.pods, name);

/** What the disruption controller would say, which this cluster has not. */
async function allow(service: string, disruptionsAllowed: number): Promise<void> {
  const budget = await eventually('the budget', () => world.get(resources.disruptionBudgets, service));
  const status = { observedGeneration: budget.metadata.generation, disruptionsAllowed };
  const counts = { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
  await world.patch(resources.disruptionBudgets, service, { status: { ...status, ...counts } }, '/status');
}

describe('status', () => {
  test('of a service that serves, and of all', async () => {
    await serving('well');
    const one = await commands.kubectlLlm(['status', 'well']);
    expect([one.code, one.stderr]).toEqual([0, '']);
    expect(one.stdout).toMatch(
      /^default\/well: ready, Serving: 1 of 1 pods answer\.\n {2}url {7}http:\/\/well/,
    );
    expect(one.stdout).toMatch(/plan {6}up to \d+ tokens a sequence/);
    expect(one.stdout).toMatch(/\n {4}weights +\d/);

    await world.createService('missing', { model: world.model('models/none/') });
    await world.condition('missing', 'ModelResolved', 'False');
    const all = await commands.kubectlLlm(['status', '-n', 'default']);
    expect(all.stdout).toMatch(/^NAME +READY +REASON +REPLICAS +MODEL +URL\n/);
    expect(all.stdout).toMatch(/\nwell +True +Serving +1\/1 +well +http/);
    expect(all.stdout).toMatch(/\nmissing +False +ModelNotFound .*\n {2}.*config\.json/);
  });

  test('is followed until the service is ready, or has failed', async () => {
    const failed = await commands.kubectlLlm(['status', 'missing', '-w']);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('default/missing: not ready (ModelNotFound)');
    expect(failed.stdout).toContain('Check the place in spec.model.uri');

    const model = world.model('models/llama/');
    await world.createService('soon', { model, resources: { limits: { memory: '1Gi' } } });
    const watching = commands.kubectlLlm(['status', 'soon', '--watch']);
    await world.deployment('soon');
    await world.makePod('soon', 'soon-1');
    await world.podServes('soon-1');
    await world.patch(resources.llmServices, 'soon', { metadata: { annotations: { touched: 'yes' } } });
    const { code, stdout } = await watching;
    expect(code).toBe(0);
    expect(stdout).toContain('default/soon: ready, Serving');
  });

  test('waits no longer than it is asked to, and knows what is not there', async () => {
    await world.createService('slow', { model: world.model('models/llama/') });
    expect((await commands.kubectlLlm(['status', 'slow', '-w', '--timeout', '1'])).code).toBe(1);
    const { code, stderr } = await commands.kubectlLlm(['status', 'nothing']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining(
        'there is no LlmService nothing in namespace default; kubectl llm status -A lists all',
      ),
    ]);
    expect((await commands.kubectlLlm(['status', '-w'])).code).toBe(2);
    expect((await commands.kubectlLlm(['nonsense'])).code).toBe(2);
  });
});

test('plan is that of llmservice, and doctor too', async () => {
  expect((await commands.kubectlLlm(['plan', '--help'])).stdout).toMatch(/^usage: llmservice plan/);
  expect((await commands.kubectlLlm(['doctor', 'well'])).stdout).toContain('default/well: ready');
});

describe('drain', () => {
  test('refuses to leave clients without an answer', async () => {
    const { code, stderr } = await commands.kubectlLlm(['drain', 'well', 'well-1']);
    expect(code).toBe(1);
    expect(stderr).toContain('no other pod of default/well answers');
    expect(stderr).toContain('kubectl scale llm well -n default --replicas N');
    expect(await pod('well-1')).not.toBeNull();
  });

  test('waits for the disruption budget, and until the pod is gone', async () => {
    await serving('pair', 2);
    await allow('pair', 0);
    const draining = commands.kubectlLlm(['drain', 'pair', 'pair-1']);
    await eventually('an eviction that was refused', () =>
      world.api
        .writes()
        .some(({ resource, name, code }) => resource === 'pods' && name === 'pair-1' && code === 429),
    );
    expect(await pod('pair-1')).not.toBeNull();
    await allow('pair', 1);
    const { code, stdout, stderr } = await draining;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('default/pair-1 must wait for its disruption budget: ');
    expect(stdout).toContain('default/pair-1 was asked to end: it finishes what it generates');
    expect(stdout).toContain('default/pair-1 is gone; its answers: 0 finished');
    expect(stdout).toContain('newest pod: pair-2');
    expect(await pod('pair-1')).toBeNull();
    expect(await pod('pair-2')).not.toBeNull();
  });

  test('gives up where the budget does not let go in time', async () => {
    await serving('kept', 2);
    await allow('kept', 0);
    const { code, stderr } = await commands.kubectlLlm(['drain', 'kept', 'kept-1', '--timeout', '1']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('did not let it go in time')]);
  });

  test('of a node cordons it, and takes the pods of all services, one by one', async () => {
    await world.request('POST', '/api/v1/nodes', {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    });
    const bind = async (name: string): Promise<void> => {
      const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
      await world.request('POST', `/api/v1/namespaces/default/pods/${name}/binding`, binding);
      await world.podServes(name);
    };
    for (const name of ['kept-1', 'soon-1']) await bind(name);
    await allow('kept', 1);
    await allow('soon', 1);
    const refused = await commands.kubectlLlm(['drain', '--node', 'n1']);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('no other pod of default/soon answers'),
    ]);
    const node = (): Promise<{ spec: { unschedulable?: boolean } }> =>
      world.api.admin.get('/api/v1/nodes/n1');
    expect((await node()).spec.unschedulable).toBeUndefined();

    const draining = commands.kubectlLlm(['drain', '--node', 'n1', '--force']);
    for (const name of ['kept-1', 'soon-1']) {
      // The kubelet would end its containers, then delete it.
      await eventually(`${name} to be evicted`, async () => (await pod(name))?.metadata.deletionTimestamp);
      await world.request('DELETE', `/api/v1/namespaces/default/pods/${name}`, { gracePeriodSeconds: 0 });
    }
    const { code, stdout } = await draining;
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'node n1 is cordoned: no new pod comes to it',
      'default/kept-1 was asked to end: it finishes what it generates',
      'default/kept-1 is gone; its answers: 0 finished',
      'default/soon-1 was asked to end: it finishes what it generates',
      'default/soon-1 is gone; its answers: 0 finished',
      'node n1 has no pod of a service; it stays cordoned until kubectl uncordon n1',
      '',
    ]);
    expect((await node()).spec.unschedulable).toBe(true);
  });

  test.each([
    [
      'a pod of another service',
      ['drain', 'well', 'pair-2'],
      3,
      'service well has no pod pair-2 in namespace default; it has well-1',
    ],
    ['no pod', ['drain', 'well'], 2, 'name a service and one of its pods, or a node with --node'],
    ['a node that is not there', ['drain', '--node', 'nowhere'], 3, 'there is no node nowhere'],
  ])('%s is refused', async (_, args, status, words) => {
    const { code, stderr } = await commands.kubectlLlm(args);
    expect([code, stderr]).toEqual([status, expect.stringContaining(words)]);
  });
});

test('logs and chat of a service without pods say so, with what it waits for', async () => {
  const logs = await commands.kubectlLlm(['logs', 'missing']);
  expect([logs.code, logs.stderr]).toEqual([
    3,
    expect.stringContaining('missing has no pod; kubectl llm status missing'),
  ]);
  const chat = await commands.kubectlLlm(['chat', 'missing', '--prompt', 'Hello']);
  expect([chat.code, chat.stderr]).toEqual([3, expect.stringContaining('missing has no pod that answers. ')]);
});

test('a person without rights gets the words of the API server', async () => {
  const { code, stderr } = await commands.kubectlLlm(['status'], 'activator');
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('User "activator" cannot list resource "llmservices"'),
  ]);
});
