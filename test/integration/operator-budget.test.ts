// Schedules and budgets against a real API server, by a clock that the test sets: the service is warm within its hours, and
// has no pods once its month's devices are spent.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { activatorName, annotations, labels } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually, settled } from '../processes.js';
import { ActivatorProcess } from './activator-process.js';
import { FakeReplica } from './fake-replica.js';
import { grantActivatorRole } from './operator-role.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;
let replica: FakeReplica;
let operator: RunningOperator;
/** What the operator takes for the time. */
let now = new Date('2026-11-10T05:00:00Z');

beforeAll(async () => {
  world = await World.start();
  await grantActivatorRole(world);
  world.s3.put('models', 'llama', llamaCheckpoint());
  replica = await FakeReplica.start();
  operator = startOperator();
  await world.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'activator', namespace: 'default', labels: { [labels.name]: activatorName } },
    spec: { containers: [{ name: 'activator', image: 'example.org/operator:1' }] },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await world.setPodStatus('activator', { phase: 'Running', podIP: '192.0.2.11', conditions });
}, 180_000);

afterAll(async () => {
  await world.stop();
  replica.stop();
});

const startOperator = (): RunningOperator =>
  world.startOperator({ podBaseUrl: () => replica.url, timing: { idleIntervalMs: 200 }, clock: () => now });

/** The clock runs on, and the operator reconciles the service. */
async function goTo(name: string, time: string): Promise<void> {
  now = new Date(time);
  await world.patch(resources.llmServices, name, { metadata: { annotations: { 'example.org/look': time } } });
}
const create = (name: string, spec: object) =>
  world.createService(name, {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    ...spec,
  });
const replicas = (name: string, wanted: number) =>
  eventually(
    `${String(wanted)} replicas of ${name}`,
    async () => (await world.deployment(name)).spec?.replicas === wanted,
  );
/** A pod on its node and ready since then. */
async function addPod(service: string, name: string, since: string): Promise<void> {
  await world.makePod(service, name);
  await world.podServes(name);
  const conditions = ['PodScheduled', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: since,
  }));
  await world.patch(resources.pods, name, { status: { conditions } }, '/status');
}

describe('a schedule', () => {
  const schedules = [
    { name: 'day', timeZone: 'Europe/Berlin', start: '0 8 * * 1-5', end: '0 18 * * 1-5', minReplicas: 2 },
  ];

  test('leaves the service asleep before its time', async () => {
    await create('office', { scaling: { idleAfterSeconds: 1, schedules } });
    await replicas('office', 1);
    await addPod('office', 'office-1', '2026-11-10T05:00:00Z');
    await replicas('office', 0);
    await world.delete(resources.pods, 'office-1');
    await world.condition('office', 'Ready', 'True', 'Asleep');
  });

  test('wakes it ahead of its start, as long before as a load takes, and all its replicas', async () => {
    await goTo('office', '2026-11-10T06:49:00Z');
    await sleep(1_000);
    await replicas('office', 0);
    await goTo('office', '2026-11-10T06:50:00Z');
    await replicas('office', 2);
    const [active] = await eventually(
      'the schedule',
      async () => (await world.status('office')).activeSchedules,
    );
    expect(active).toEqual({ name: 'day', until: '2026-11-10T17:00:00Z' });
  });

  test('keeps it awake, through a restart of the operator too', async () => {
    await addPod('office', 'office-2', '2026-11-10T06:50:10Z');
    await addPod('office', 'office-3', '2026-11-10T06:50:10Z');
    await world.condition('office', 'Ready', 'True', 'Serving');
    await operator.stop();
    operator = startOperator();
    await eventually('leadership', () => operator.operator.leading);
    await goTo('office', '2026-11-10T12:00:00Z');
    await sleep(2_000);
    await replicas('office', 2);
    expect(await world.get(resources.llmServices, 'office')).toMatchObject({ spec: { replicas: 1 } });
  });

  test('and lets it go at its end', async () => {
    await goTo('office', '2026-11-10T17:00:00Z');
    await replicas('office', 1);
    await eventually('no schedule', async () => (await world.status('office')).activeSchedules === undefined);
    await world.delete(resources.pods, 'office-3');
    await replicas('office', 0);
  });

  test('that no clock can read is refused with what is wrong', async () => {
    const wrong = [{ name: 'a', start: '0 25 * * *', end: '0 9 * * *' }];
    await create('unreadable', { scaling: { schedules: wrong } });
    const { message } = await world.condition('unreadable', 'ModelResolved', 'False', 'InvalidSpec');
    expect(message).toContain('spec.scaling.schedules[0].start');
  });
});

describe('a budget', () => {
  const budget = { deviceHoursPerMonth: 2 };
  const events = async (name: string): Promise<string[]> => {
    const { items } = await world.api.admin.get<{
      items: { involvedObject: { name: string }; type: string; reason: string }[];
    }>('/api/v1/namespaces/default/events');
    return items
      .filter(({ involvedObject, type }) => involvedObject.name === name && type === 'Warning')
      .map(({ reason }) => reason);
  };
  const account = async () => (await world.status('costly')).budget;
  const counted = (seconds: number) =>
    eventually(`${String(seconds)} device-seconds`, async () => (await account())?.deviceSeconds === seconds);

  test('counts from when a pod has its node', async () => {
    now = new Date('2026-11-10T12:00:00Z');
    await create('costly', { budget, scaling: { idleAfterSeconds: 3600 } });
    await replicas('costly', 1);
    await addPod('costly', 'costly-1', '2026-11-10T12:00:00Z');
    await world.condition('costly', 'WithinBudget', 'True', 'Spending');
    await goTo('costly', '2026-11-10T13:00:00Z');
    await counted(3600);
    expect(await account()).toMatchObject({ monthStart: '2026-11-01T00:00:00Z', devicesHeld: 1 });
  });

  test('is not written again before five minutes have passed', async () => {
    const writes = () =>
      world.api
        .writes()
        .filter(({ name, user, code }) => name === 'costly' && user === 'operator' && code < 300);
    await world.condition('costly', 'Ready', 'True');
    const before = await settled('what is written', () => writes().length);
    await goTo('costly', '2026-11-10T13:04:59Z');
    await sleep(1_000);
    expect(writes().slice(before)).toEqual([]);
    await goTo('costly', '2026-11-10T13:05:00Z');
    await counted(3900);
    await eventually('the audit log to show it', () => writes().length > before);
    expect(writes().slice(before)).toMatchObject([{ resource: 'llmservices' }]);
  });

  test('counts what passed while the operator was away, and a pod that went meanwhile', async () => {
    await operator.stop();
    await world.delete(resources.pods, 'costly-1');
    now = new Date('2026-11-10T13:30:00Z');
    operator = startOperator();
    await counted(5400);
    expect(await account()).toMatchObject({ devicesHeld: 0 });
    await addPod('costly', 'costly-2', '2026-11-10T13:30:00Z');
    await eventually('a device', async () => (await account())?.devicesHeld === 1);
  });

  test('warns at four fifths', async () => {
    await goTo('costly', '2026-11-10T13:36:00Z');
    const { message } = await world.condition('costly', 'WithinBudget', 'True', 'NearlySpent');
    expect(message).toBe("80 % of the month's 2 device-hours are taken.");
    await eventually('the event', async () => (await events('costly')).includes('NearlySpent'));
    await replicas('costly', 1);
  });

  test('takes all pods away when it is spent, and has the activator say why', async () => {
    await goTo('costly', '2026-11-10T14:00:00Z');
    await replicas('costly', 0);
    const { message } = await world.condition('costly', 'Ready', 'False', 'OverBudget');
    expect(message).toContain('no pods until 2026-12-01T00:00:00Z; raise spec.budget.deviceHoursPerMonth');
    await world.condition('costly', 'Stalled', 'False');
    await eventually('the event', async () => (await events('costly')).includes('OverBudget'));
    await eventually('the activator', () => world.get(resources.endpointSlices, 'costly-activator'));
    await world.delete(resources.pods, 'costly-2');
    await counted(7200);
  });

  test('whoever asks is refused at once, and wakes nothing', async () => {
    const activator = await ActivatorProcess.start(world.api);
    const { status, body } = await (await activator.send('costly', {})).answer;
    await activator.stop();
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    expect([status, error.code]).toEqual([503, 'service_over_budget']);
    expect(error.message).toContain('no pods until 2026-12-01T00:00:00Z');
    const notes = (await world.get(resources.llmServices, 'costly'))?.metadata.annotations ?? {};
    expect(notes).not.toHaveProperty([annotations.lastRequest]);
    await replicas('costly', 0);
  });

  test('stays spent through a restart of the operator', async () => {
    await operator.stop();
    operator = startOperator();
    await eventually('leadership', () => operator.operator.leading);
    await goTo('costly', '2026-11-20T00:00:00Z');
    await sleep(1_000);
    await replicas('costly', 0);
    await counted(7200);
  });

  test('that is raised brings the pods back', async () => {
    await world.patch(resources.llmServices, 'costly', { spec: { budget: { deviceHoursPerMonth: 3 } } });
    await replicas('costly', 1);
    await world.condition('costly', 'WithinBudget', 'True', 'Spending');
  });

  test('begins anew with the month', async () => {
    await world.patch(resources.llmServices, 'costly', { spec: { budget: { deviceHoursPerMonth: 1 } } });
    await replicas('costly', 0);
    await goTo('costly', '2026-12-01T00:00:00Z');
    await replicas('costly', 1);
    await counted(0);
  });

  test('only warns where that is asked for', async () => {
    await world.patch(resources.llmServices, 'costly', { spec: { budget: { action: 'warn' } } });
    await addPod('costly', 'costly-3', '2026-12-01T00:00:00Z');
    await goTo('costly', '2026-12-01T02:00:00Z');
    await world.condition('costly', 'WithinBudget', 'False', 'OverBudget');
    await world.condition('costly', 'Ready', 'True', 'Serving');
    await replicas('costly', 1);
  });
});

test('an account that is restored as deploy/docs/backup.md says survives its service', async () => {
  const { apiVersion, kind, spec } = (await world.get(resources.llmServices, 'costly'))!;
  const budget = { monthStart: '2026-12-01T00:00:00Z', deviceSeconds: 1234, devicesHeld: 0 };
  await world.delete(resources.llmServices, 'costly');
  await world.delete(resources.pods, 'costly-3');
  await operator.stop();
  await world.create({ apiVersion, kind, spec, metadata: { name: 'costly', namespace: 'default' } });
  const status = { budget: { ...budget, updatedAt: '2026-12-01T02:00:00Z' } };
  await world.patch(resources.llmServices, 'costly', { status }, '/status');
  operator = startOperator();
  await world.condition('costly', 'WithinBudget', 'True', 'Spending');
  expect((await world.status('costly')).budget).toMatchObject(budget);
});

test.each<[string, object, string]>([
  [
    'both limits',
    { deviceHoursPerMonth: 1, costPerMonth: '5', costPerDeviceHour: '1' },
    'deviceHoursPerMonth',
  ],
  ['a cost without a price', { costPerMonth: '5' }, 'costPerDeviceHour'],
  ['no money', { costPerMonth: '0', costPerDeviceHour: '1' }, 'costPerMonth'],
])('a budget of %s is refused', async (_, budget, path) => {
  await expect(create('refused', { budget })).rejects.toThrow(path);
});
