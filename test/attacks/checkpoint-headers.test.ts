// Checkpoints of a tenant that no reader should survive, beside a neighbour whose service must be looked at as ever. The
// operator is the process that runs in a pod; the API server and the S3 server are real.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LlmServiceStatus } from '@llmservice/crds';
import { objectPath, resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { OperatorProcess } from '../integration/operator-process.js';
import { World } from '../integration/operator-world.js';
import { eventually } from '../processes.js';
import { hostileCheckpoints } from './hostile-checkpoints.js';

jest.setTimeout(300_000);

const tenant = 'attacker';
const hostile = hostileCheckpoints();
const oneGi = { resources: { limits: { memory: '1Gi' } } };

let world: World;
let operator: OperatorProcess;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  for (const [name, files] of Object.entries(hostile)) world.s3.put('models', name, files);
  await world.makeNamespace(tenant);
  await world.makeCredentials(tenant);
  operator = OperatorProcess.start(world.api, 'operator');
  await world.createService('neighbour', { model: world.model('models/llama/'), ...oneGi });
  await world.deployment('neighbour');
}, 180_000);

afterAll(async () => {
  await operator.stop();
  await world.stop();
});

const statusOf = async (name: string): Promise<LlmServiceStatus> => {
  const path = objectPath(resources.llmServices, tenant, name);
  return (await world.api.admin.get<{ status?: LlmServiceStatus }>(path)).status ?? {};
};

/** How long the operator takes from an edit of the neighbour to its Deployment. */
async function reconcileMs(replicas: number): Promise<number> {
  const startedAt = performance.now();
  await world.patch(resources.llmServices, 'neighbour', { spec: { replicas } });
  while ((await world.deployment('neighbour')).spec?.replicas !== replicas) await sleep(5);
  return performance.now() - startedAt;
}

test('hostile checkpoints are refused each by its condition, and the neighbour is reconciled meanwhile', async () => {
  const alone = [await reconcileMs(2), await reconcileMs(1)];
  for (const name of Object.keys(hostile)) {
    await world.create(
      llmService(name, { model: world.model(`models/${name}/`), ...oneGi }, { namespace: tenant }),
    );
  }
  const told = new Map<string, string>();
  const latencies: number[] = [];
  await eventually(
    'all conditions',
    async () => {
      latencies.push(await reconcileMs(2), await reconcileMs(1));
      for (const name of Object.keys(hostile)) {
        const resolved = (await statusOf(name)).conditions?.find(({ type }) => type === 'ModelResolved');
        if (resolved?.status === 'False') told.set(name, `${resolved.reason}: ${resolved.message}`);
      }
      const missing = Object.keys(hostile).filter((name) => !told.has(name));
      if (missing.length > 0) throw new Error(`no condition of ${missing.join()}`);
      return true;
    },
    240_000,
  );
  const sorted = latencies.sort((a, b) => a - b);
  process.stderr.write(
    `reconciles of the neighbour: ${sorted.length}, alone ${alone.map(Math.round).join(' and ')} ms, beside the attack ` +
      `median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, largest ${Math.round(sorted.at(-1) ?? 0)} ms\n` +
      [...told].map(([name, words]) => `${name}: ${words.slice(0, 160)}\n`).join(''),
  );
  for (const words of told.values()) expect(words).toMatch(/^Checkpoint(Corrupt|Incomplete): /);
  expect(operator.child.exitCode).toBeNull();
  expect(operator.child.signalCode).toBeNull();
  // What a standstill would be: before, it was 18 s for a quarter of one of these.
  expect(sorted.at(-1)).toBeLessThan(5_000);
});
