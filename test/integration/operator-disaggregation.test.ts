// Prefill and decode apart on a real API server, by the rights that the operator's chart gives: the objects of prefill pods come,
// follow the service and go; the status counts them, and the budget their devices. Controllers and kubelet are played.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { labels } from '@llmservice/crds';
import { prefillName, prefillResources } from '../../operator/src/kube/prefill-name.js';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, settled } from '../processes.js';
import { Kubectl } from './kubectl.js';
import { World } from './operator-world.js';

jest.setTimeout(180_000);

const { deployments, llmServices, pods } = resources;

let world: World;
let kubectl: Kubectl;

beforeAll(async () => {
  world = await World.start();
  kubectl = new Kubectl(world.api.kubeConfig());
  world.s3.put('models', 'llama', llamaCheckpoint());
  world.startOperator();
  await create('chat', {});
}, 180_000);
afterAll(() => world.stop());

const create = (name: string, spec: object) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    budget: { deviceHoursPerMonth: 1000 },
    ...spec,
  });
const edit = (name: string, spec: object) => world.patch(llmServices, name, { spec });
const prefillOf = (name: string) =>
  Promise.all(prefillResources.map((resource) => world.get(resource, prefillName(name))));
const prefillReplicas = (name: string, wanted: number) =>
  eventually(
    `${String(wanted)} prefill pods of ${name}`,
    async () => (await world.deployment(prefillName(name))).spec?.replicas === wanted,
  );
/** What the Deployment's controller reports. */
const reports = (name: string, replicas: number, readyReplicas: number) =>
  world.patch(deployments, prefillName(name), { status: { replicas, readyReplicas } }, '/status');
const readySays = (name: string, text: string) =>
  eventually(`${name}: ${text}`, async () => {
    const { message } = await world.condition(name, 'Ready', 'True', 'Serving');
    if (message === text) return true;
    throw new Error(message);
  });
const templateOf = async (name: string) =>
  ((await world.deployment(name)) as never as { spec: { template: { metadata: KubeObject['metadata'] } } })
    .spec.template;

test('without the field there are none', async () => {
  await world.deployment('chat');
  expect(await prefillOf('chat')).toEqual([null, null, null, null]);
  expect((await world.status('chat')).prefill).toBeUndefined();
});

describe('with it', () => {
  test('they come with the revision of decode pods, and nobody writes them again', async () => {
    await edit('chat', { disaggregation: { prefill: { replicas: 2 } } });
    await prefillReplicas('chat', 2);
    const [decode, prefill] = await Promise.all([templateOf('chat'), templateOf('chat-prefill')]);
    expect(prefill.metadata.annotations).toEqual(decode.metadata.annotations);
    expect(JSON.stringify(decode)).toContain('{"name":"DISAGGREGATION_ROLE","value":"decode"}');
    expect(JSON.stringify(prefill)).toContain('{"name":"DISAGGREGATION_ROLE","value":"prefill"}');
    await eventually('all of their objects', async () => !(await prefillOf('chat')).includes(null));
    const written = () => world.api.writes().filter(({ name }) => name === 'chat-prefill').length;
    const before = await settled('writes of prefill pods', written);
    await world.patch(llmServices, 'chat', { metadata: { annotations: { touched: 'yes' } } });
    await settled('writes of prefill pods', written);
    expect(written()).toBe(before);
  });

  test('the service is ready without one, and says so', async () => {
    await world.makePod('chat', 'chat-1');
    await world.podServes('chat-1');
    await readySays('chat', '1 of 1 pods answer. No prefill pod is ready: decode pods compute all prompts.');
    await world.makePod('chat-prefill', 'prefill-1');
    const scheduled = {
      ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      message: '0/1 nodes are available.',
    };
    await world.setPodStatus('prefill-1', { phase: 'Pending', conditions: [scheduled] });
    await readySays(
      'chat',
      '1 of 1 pods answer. No prefill pod is ready (Unschedulable: 0/1 nodes are available.): ' +
        'decode pods compute all prompts.',
    );
  });

  test('prefill pods are no replicas, and hold devices', async () => {
    await world.podServes('prefill-1');
    await reports('chat', 2, 1);
    await readySays('chat', '1 of 1 pods answer.');
    const held = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    for (const name of ['chat-1', 'prefill-1'])
      await world.patch(
        pods,
        name,
        { status: { conditions: [held, { type: 'Ready', status: 'True' }] } },
        '/status',
      );
    await eventually('two devices', async () => (await world.status('chat')).budget?.devicesHeld === 2);
    const { prefill, readyReplicas, selector } = await world.status('chat');
    expect([prefill, readyReplicas]).toEqual([{ replicas: 2, ready: 1 }, 1]);
    expect((await world.list(pods, selector ?? '')).map(({ metadata }) => metadata.name)).toEqual(['chat-1']);
    const apart = await world.list(pods, `${labels.prefill}=chat`);
    expect(apart.map(({ metadata }) => metadata.name)).toEqual(['prefill-1']);
  });

  test('another number of them is no other revision', async () => {
    const { metadata } = await templateOf('chat');
    await edit('chat', { disaggregation: { prefill: { replicas: 3 } } });
    await prefillReplicas('chat', 3);
    expect((await templateOf('chat')).metadata).toEqual(metadata);
  });

  test('they roll with the service', async () => {
    const before = (await templateOf('chat')).metadata.annotations;
    await edit('chat', { engine: { maxNumSeqs: 7 } });
    await eventually('another revision', async () => {
      const [decode, prefill] = await Promise.all([templateOf('chat'), templateOf('chat-prefill')]);
      expect(decode.metadata.annotations).not.toEqual(before);
      expect(prefill.metadata.annotations).toEqual(decode.metadata.annotations);
      return true;
    });
  });

  test('they are none of a service that is stopped, and back with it', async () => {
    await edit('chat', { stop: true });
    await prefillReplicas('chat', 0);
    await edit('chat', { stop: false });
    await prefillReplicas('chat', 3);
  });

  test('and they go with the field', async () => {
    await edit('chat', { disaggregation: null });
    await eventually('no object', async () => (await prefillOf('chat')).every((object) => object === null));
    await eventually('no count', async () => (await world.status('chat')).prefill === undefined);
    expect(await world.get(deployments, 'chat')).not.toBeNull();
  });
});

test('the Deployment of a service that has the name of prefill pods is left alone', async () => {
  await create('two-prefill', {});
  const { uid } = (await world.deployment('two-prefill')).metadata;
  await create('two', { disaggregation: {} });
  const { message } = await world.condition('two', 'Ready', 'False', 'NameTaken');
  expect(message).toContain('two-prefill');
  expect((await world.deployment('two-prefill')).metadata.uid).toBe(uid);
  expect((await world.status('two')).prefill).toEqual({ replicas: 0, ready: 0 });
});

test('the sample is taken as it is written', async () => {
  await world.makeNamespace('experimental');
  const sample = readFileSync(new URL('../../deploy/samples/disaggregation.yaml', import.meta.url), 'utf8');
  await kubectl.output(['apply', '--validate=strict', '-f', '-'], sample);
});
