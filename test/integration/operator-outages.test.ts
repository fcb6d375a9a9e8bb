// What the operator does while the API server, or the way to it, or its own process is in trouble: nothing twice, nothing
// by two, and all that was wanted meanwhile once the trouble is over.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import { KubeClient } from '../../operator/src/kube/client.js';
import { resources } from '../../operator/src/kube/resources.js';
import type { Deployment } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { ApiGate, type Trouble } from './api-gate.js';
import type { AuditedWrite, User } from './api-server.js';
import { OperatorProcess } from './operator-process.js';
import { World, type RunningOperator } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;
beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
}, 600_000);
afterAll(() => world.stop());

const oneGi = { resources: { limits: { memory: '1Gi' } } };
const create = (name: string): Promise<unknown> =>
  world.createService(name, { model: world.model('models/llama/'), ...oneGi });

const configOf = (deployment: Deployment | null): string | undefined =>
  deployment?.spec?.template?.metadata?.annotations?.[annotations.configHash];

interface BehindGate {
  readonly gate: ApiGate;
  readonly operator: RunningOperator;
  stop(): Promise<void>;
}

async function startBehindGate({ silenceMs }: { silenceMs?: number } = {}): Promise<BehindGate> {
  const gate = await ApiGate.start(world.api.kubeConfig('operator'));
  const timing = {
    leaseMs: 120_000,
    renewDeadlineMs: 90_000,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  };
  const operator = world.startOperator({ timing }, new KubeClient(gate.kubeConfig()));
  await eventually('leadership', () => operator.operator.leading);
  const stop = async (): Promise<void> => {
    await operator.stop();
    gate.stop();
  };
  return { gate, operator, stop };
}

describe('once it is over, all that was wanted meanwhile is done, after', () => {
  let running: BehindGate;
  beforeAll(async () => {
    running = await startBehindGate({ silenceMs: 4_000 });
  });
  afterAll(() => running.stop());

  test.each<[string, Trouble]>([
    ['429 to every request', { kind: 'status', code: 429, of: 'requests' }],
    ['500 to every request', { kind: 'status', code: 500, of: 'requests' }],
    ['410 to every watch', { kind: 'status', code: 410, of: 'watches' }],
    ['watches that are half open', { kind: 'silence' }],
  ])('%s', async (what, trouble) => {
    const { gate, operator } = running;
    const prefix = what.slice(0, 3).toLowerCase();
    const [kept, changed, removed] = ['kept', 'changed', 'removed'].map((each) => `${each}-${prefix}`) as [
      string,
      string,
      string,
    ];
    for (const name of [changed, removed]) await create(name);
    for (const name of [changed, removed]) await world.deployment(name);
    const before = configOf(await world.deployment(changed));

    gate.set(trouble);
    await create(kept);
    await world.patch(resources.llmServices, changed, { spec: { engine: { maxNumSeqs: 8 } } });
    await world.delete(resources.llmServices, removed);
    await sleep(5_000);
    await eventually('it to be met', () => gate.met > 0);
    // What is gone can be had by a list alone.
    if (trouble.kind === 'status' && trouble.code === 410) expect(gate.relisted).not.toEqual([]);
    // A storm of its own would make the server's worse: it backs off.
    expect(gate.met).toBeLessThan(300);
    gate.set({ kind: 'none' });

    await world.deployment(kept);
    await world.condition(kept, 'Fits', 'True');
    await eventually('the change', async () => configOf(await world.deployment(changed)) !== before);
    expect(operator.operator.leading).toBe(true);
    // Nothing is made anew for what is gone.
    await world.delete(resources.deployments, removed);
    await create(`after-${prefix}`);
    await world.deployment(`after-${prefix}`);
    expect(await world.get(resources.deployments, removed)).toBeNull();
  });
});

// Each with an operator of its own: one that still backs off from an outage before may rightly list anew in this one.
test.each([429, 500, 503, 401])(
  '%i to every watch: they continue from where they stood, and nothing is listed anew',
  async (code) => {
    const behind = await startBehindGate();
    const { gate, operator } = behind;
    try {
      const [before, meanwhile] = [`before-${String(code)}w`, `meanwhile-${String(code)}w`];
      await create(before);
      await world.deployment(before);
      gate.set({ kind: 'status', code, of: 'watches' });
      await create(meanwhile);
      await eventually('it to be met', () => gate.met > 20);
      await sleep(3_000);
      expect(gate.met).toBeLessThan(200);
      const relisted = [...gate.relisted];
      gate.set({ kind: 'none' });
      await world.deployment(meanwhile);
      await eventually('all that is known', async () => (await world.status(meanwhile)).conditions);
      expect([...relisted, ...gate.relisted]).toEqual([]);
      expect(operator.operator.leading).toBe(true);
    } finally {
      await behind.stop();
    }
  },
);

test('the Gateway API is removed and comes back: services continue without routes, and get them again', async () => {
  const operator = world.startOperator();
  const routed = (name: string): Promise<unknown> =>
    world.createService(name, {
      model: world.model('models/llama/'),
      ...oneGi,
      routing: { host: `${name}.test` },
    });
  await routed('before');
  await eventually('its route', () => world.get(resources.httpRoutes, 'before'));
  await world.removeGatewayApi();
  await routed('without');
  await world.condition('without', 'Routed', 'False', 'GatewayApiMissing');
  await world.condition('before', 'Routed', 'False', 'GatewayApiMissing');
  await world.deployment('without');
  await world.delete(resources.llmServices, 'before');
  await eventually('its deletion', async () => (await world.get(resources.llmServices, 'before')) === null);
  await world.installGatewayApi();
  await eventually('the other’s route', () => world.get(resources.httpRoutes, 'without'));
  await operator.stop();
});

describe('a leader that is stopped for a minute in the midst of its work', () => {
  const by = (user: User, { code }: { code?: (code: number) => boolean } = {}): AuditedWrite[] =>
    world.api.writes().filter((each) => each.user === user && (code?.(each.code) ?? true));
  const succeeded = { code: (code: number) => code < 300 };
  const leads = (user: User): Promise<AuditedWrite> =>
    eventually(
      `${user} leads`,
      () => by(user, succeeded).find(({ resource }) => resource === 'leases'),
      60_000,
    );

  test('writes nothing after the next one leads', async () => {
    const old = OperatorProcess.start(world.api, 'operator-a');
    await leads('operator-a');
    const next = OperatorProcess.start(world.api, 'operator-b');
    try {
      const names = Array.from({ length: 24 }, (_, index) => `busy-${String(index)}`);
      const made = Promise.all(names.slice(0, 20).map(create));
      await eventually('its first Deployment', () =>
        by('operator-a', succeeded).some(({ resource }) => resource === 'deployments'),
      );
      old.child.kill('SIGSTOP');
      const minute = sleep(60_000);
      await made;
      // However late the first Deployment was seen: these it leaves to the next.
      await Promise.all(names.slice(20).map(create));
      const unfinished = by('operator-a', succeeded).filter(
        ({ resource }) => resource === 'deployments',
      ).length;
      expect(unfinished).toBeLessThan(names.length);
      const { at } = await leads('operator-b');
      for (const name of names) await world.condition(name, 'Fits', 'True');
      await world.patch(resources.llmServices, names[0]!, { spec: { replicas: 2 } });
      await minute;
      old.child.kill('SIGCONT');
      await eventually('its end', () => old.child.exitCode !== null);
      expect(old.child.exitCode).toBe(1);
      await eventually('the change', async () => {
        const { spec } = (await world.deployment(names[0]!)) as unknown as { spec: { replicas: number } };
        return spec.replicas === 2;
      });
      expect(by('operator-a', succeeded).filter((write) => write.at > at)).toEqual([]);
      for (const name of names) await world.deployment(name);
    } finally {
      await old.stop('SIGKILL');
      await next.stop();
    }
  });
});
