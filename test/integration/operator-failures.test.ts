// What the operator does when pods fail, when it is killed at any point, and when there are two of it.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTerminationMessage } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { World, type RunningOperator } from './operator-world.js';
import { WatchedClient } from './watched-client.js';
import { eventually } from '../processes.js';

jest.setTimeout(120_000);

let world: World;
let operator: RunningOperator;

const oneGi = { resources: { limits: { memory: '1Gi' } } };
const terminal = formatTerminationMessage({
  reason: 'KvCacheTooSmall',
  message: '512 do not fit',
  detail: { fits: 64 },
});
const replicas = async (name: string) => (await world.deployment(name)).spec?.replicas;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  operator = world.startOperator();
}, 180_000);

afterAll(() => world.stop());

async function failing(name: string): Promise<void> {
  await world.createService(name, { model: world.model('models/llama/'), ...oneGi });
  await world.makePod(name, `${name}-1`);
  await world.podFailed(`${name}-1`, terminal);
}

describe('a terminal failure', () => {
  test('is reported with its remedy, and scales to zero at its first message', async () => {
    await failing('terminal');
    await eventually('zero replicas', async () => (await replicas('terminal')) === 0);
    const { lastFailure } = await world.status('terminal');
    expect(lastFailure).toMatchObject({
      reason: 'KvCacheTooSmall',
      message: '512 do not fit',
      terminal: true,
      pod: 'terminal-1',
      at: '2026-01-01T00:00:00Z',
    });
    await world.condition('terminal', 'Ready', 'False', 'KvCacheTooSmall');
    await world.condition('terminal', 'Stalled', 'True', 'KvCacheTooSmall');
  });

  test('keeps the pods stopped after they are gone, for the next operator too', async () => {
    await world.request('DELETE', '/api/v1/namespaces/default/pods/terminal-1', { gracePeriodSeconds: 0 });
    await operator.stop();
    operator = world.startOperator({ timing: { resyncMs: 200 } });
    await eventually('leadership', () => operator.operator.leading);
    await sleep(1_000);
    expect(await replicas('terminal')).toBe(0);
    await world.condition('terminal', 'Stalled', 'True', 'KvCacheTooSmall');
  });

  test('is not cleared by scaling', async () => {
    await world.patch(resources.llmServices, 'terminal', { spec: { replicas: 2 } });
    await eventually(
      'the new generation',
      async () => (await world.status('terminal')).observedGeneration === 2,
    );
    expect(await replicas('terminal')).toBe(0);
  });

  test('is tried again when the retry annotation changes', async () => {
    await world.patch(resources.llmServices, 'terminal', {
      metadata: { annotations: { 'llmservice.dev/retry': 'now' } },
    });
    await eventually('replicas', async () => (await replicas('terminal')) === 2);
    await world.condition('terminal', 'Stalled', 'False');
    expect((await world.status('terminal')).lastFailure).toBeUndefined();
  });

  test('is tried again when the spec changes', async () => {
    await failing('respec');
    await eventually('zero replicas', async () => (await replicas('respec')) === 0);
    await world.patch(resources.llmServices, 'respec', { spec: { engine: { maxModelLen: 64 } } });
    await eventually('one replica', async () => (await replicas('respec')) === 1);
  });
});

test('a failure that may pass is reported, and the pods are left to try again', async () => {
  await world.createService('passing', { model: world.model('models/llama/'), ...oneGi });
  await world.makePod('passing', 'passing-1');
  await world.podFailed('passing-1', 'Segmentation fault');
  const { message } = await world.condition('passing', 'Loaded', 'False', 'Crashed');
  expect(message).toContain('Segmentation fault');
  expect((await world.status('passing')).lastFailure).toMatchObject({ reason: 'Crashed', terminal: false });
  expect(await replicas('passing')).toBe(1);
  await world.podServes('passing-1');
  await world.condition('passing', 'Ready', 'True');
  expect((await world.status('passing')).lastFailure).toBeUndefined();
});

test('a spec that only the API server can judge is refused in status and starves no other service', async () => {
  const resources = { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } };
  await world.createService('poison', { model: world.model('models/llama/'), resources });
  await world.createService('beside', { model: world.model('models/llama/'), ...oneGi });
  const { message } = await world.condition('poison', 'Stalled', 'True', 'InvalidSpec');
  expect(message).toContain('memory limit');
  await world.deployment('beside');
});

test('killed before any one of its writes, it converges when it starts again', async () => {
  await operator.stop();
  for (let survived = 0; survived < 9; survived += 1) {
    const name = `killed-${survived}`;
    const client = new WatchedClient(world.api.kubeConfig('operator'));
    let writes = 0;
    client.before = ({ method, path }) => {
      if (method === 'GET' || path.includes('/leases') || !path.includes(name)) return;
      writes += 1;
      if (writes > survived) throw new Error('killed');
    };
    const dying = world.startOperator({}, client);
    await world.createService(name, {
      model: world.model('models/llama/'),
      ...oneGi,
      routing: { host: `${name}.test` },
    });
    await eventually(
      `its death at ${survived}`,
      () => writes > survived || (survived > 6 && dying.operator.leading),
    );
    await dying.stop();
  }
  operator = world.startOperator();
  for (let survived = 0; survived < 9; survived += 1) {
    const name = `killed-${survived}`;
    for (const resource of [
      resources.deployments,
      resources.services,
      resources.disruptionBudgets,
      resources.httpRoutes,
    ]) {
      await eventually(`${resource.kind} ${name}`, () => world.get(resource, name));
    }
    await world.condition(name, 'Fits', 'True');
  }
});

describe('two operators', () => {
  test('have one leader; the other takes over when it goes, and writes nothing before', async () => {
    const second = new WatchedClient(world.api.kubeConfig('operator'));
    const standby = world.startOperator({ identity: 'standby' }, second);
    await eventually('the first leads', () => operator.operator.leading);
    await sleep(2_500);
    expect(operator.operator.leading).toBe(true);
    expect(standby.operator.leading).toBe(false);
    expect(second.writes).toEqual([]);
    await operator.stop();
    await eventually('the second leads', () => standby.operator.leading);
    await world.createService('after', { model: world.model('models/llama/'), ...oneGi });
    await world.deployment('after');
    operator = standby;
  });

  test('a leader that cannot renew stops writing before another may take over, and ends', async () => {
    const cut = new WatchedClient(world.api.kubeConfig('operator'));
    await operator.stop();
    const timing = { leaseMs: 15_000, renewDeadlineMs: 10_000 };
    const old = world.startOperator({ identity: 'old', timing }, cut);
    await eventually('the old leads', () => old.operator.leading);
    const next = world.startOperator({ identity: 'next', timing });
    cut.before = ({ path }) => {
      if (path.includes('/leases')) throw new Error('unreachable');
    };
    let overlap = false;
    await eventually('the next leads', () => {
      overlap ||= old.operator.leading && next.operator.leading;
      return next.operator.leading;
    });
    expect(overlap).toBe(false);
    expect((await old.ended)?.message).toBe('the lease was lost');
    const written = cut.writes.length;
    await world.createService('next', { model: world.model('models/llama/'), ...oneGi });
    await world.deployment('next');
    expect(cut.writes).toHaveLength(written);
    operator = next;
  });
});
