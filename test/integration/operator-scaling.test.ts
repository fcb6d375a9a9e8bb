// Services without pods against a real API server: stopped by the spec.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { World } from './operator-world.js';

jest.setTimeout(90_000);

let world: World;

const oneGi = { resources: { limits: { memory: '1Gi' } } };

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  world.startOperator();
}, 180_000);

afterAll(() => world.stop());

const replicas = (name: string, wanted: number) =>
  eventually(
    `${String(wanted)} replicas`,
    async () => (await world.deployment(name)).spec?.replicas === wanted,
  );

describe('a service that is stopped', () => {
  test('has no pods, keeps all else, and is not stalled', async () => {
    await world.createService('stopped', { model: world.model('models/llama/'), replicas: 2, ...oneGi });
    await replicas('stopped', 2);
    await world.patch(resources.llmServices, 'stopped', { spec: { stop: true } });
    const { message } = await world.condition('stopped', 'Ready', 'False', 'Stopped');
    expect(message).toContain('Set it to false');
    await replicas('stopped', 0);
    await world.condition('stopped', 'Stalled', 'False');
    await world.condition('stopped', 'Reconciling', 'False');
    expect(await world.get(resources.services, 'stopped')).not.toBeNull();
    expect(await world.get(resources.llmServices, 'stopped')).toMatchObject({ spec: { replicas: 2 } });
  });

  test('comes back with the replicas and the template that it had', async () => {
    const before = (await world.deployment('stopped')).spec?.template;
    await world.patch(resources.llmServices, 'stopped', { spec: { stop: false } });
    await replicas('stopped', 2);
    expect((await world.deployment('stopped')).spec?.template).toEqual(before);
    await world.makePod('stopped', 'stopped-1');
    await world.makePod('stopped', 'stopped-2');
    for (const pod of ['stopped-1', 'stopped-2']) await world.podServes(pod);
    await world.condition('stopped', 'Ready', 'True');
  });

  test('may be so from the beginning', async () => {
    await world.createService('asleep', { model: world.model('models/llama/'), stop: true, ...oneGi });
    await world.condition('asleep', 'Ready', 'False', 'Stopped');
    await replicas('asleep', 0);
  });
});
