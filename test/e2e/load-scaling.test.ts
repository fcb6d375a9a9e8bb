// The operator's own loop on a real node: more pods while many ask, and fewer when they are gone, with every answer given.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply } from './cluster.js';
import { call, chatBody, chatPath } from './gateway.js';
import { conditionOf, makeNamespace, podsOf, remove, serviceOf, statusOf, waitReady } from './service.js';

jest.setTimeout(300_000);
const host = 'busy.e2e.example';
const question = chatBody('What is the capital of France?');

beforeAll(async () => {
  await makeNamespace();
  const still = serviceOf('busy', { uri: await upload('demo', demoModel()), host }) as { spec: object };
  const scaling = { maxReplicas: 2, target: 4, provider: 'operator', scaleDownStabilizationSeconds: 15 };
  await apply({ ...still, spec: { ...still.spec, scaling } });
  await waitReady('busy');
});
afterAll(() => remove('busy'));

test('a service that many ask has a second pod, and one again when they are gone', async () => {
  expect((await conditionOf('busy', 'ScalingActive'))?.reason).toBe('Operator');
  let asking = true;
  const refused: string[] = [];
  const clients = Array.from({ length: 12 }, async () => {
    while (asking) {
      const { status, body } = await call(host, chatPath, question);
      if (status !== 200) refused.push(`${String(status)} ${body}`);
    }
  });
  const ready = (count: number): Promise<unknown> =>
    eventually(
      `${String(count)} pods`,
      async () => {
        const exact = (await podsOf('busy')).length === count;
        return exact && (await statusOf('busy'))?.readyReplicas === count;
      },
      120_000,
    );
  await ready(2);
  asking = false;
  await Promise.all(clients);
  expect(refused).toEqual([]);
  await ready(1);
});
