// Sleep and wake on a real node, through the gateway: who asks a service without pods gets an answer, whatever else ends
// meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, getJson, kubectl } from './cluster.js';
import { call, chatBody, chatPath, stream, type Answer } from './gateway.js';
import { conditionOf, makeNamespace, podsOf, remove, serviceOf, waitReady } from './service.js';

jest.setTimeout(300_000);
const host = 'sleeper.e2e.example';
const system = 'llmservice-system';
const question = chatBody('What is the capital of France?');

beforeAll(async () => {
  await makeNamespace();
  const awake = serviceOf('sleeper', { uri: await upload('demo', demoModel()), host }) as { spec: object };
  await apply({ ...awake, spec: { ...awake.spec, scaling: { idleAfterSeconds: 5 } } });
  await waitReady('sleeper');
});
afterAll(() => remove('sleeper'));

/** Waits until there is no pod left. */
async function fallAsleep(): Promise<void> {
  await eventually(
    'sleep',
    async () => {
      const ready = await conditionOf('sleeper', 'Ready');
      return ready?.reason === 'Asleep' && (await podsOf('sleeper')).length === 0;
    },
    120_000,
  );
}

async function podNames(app: string): Promise<string[]> {
  const selector = `app.kubernetes.io/name=${app}`;
  const { items } = await getJson<{ items: { metadata: { name: string } }[] }>([
    ...['pods', '-n', system, '-l', selector],
  ]);
  return items.map(({ metadata }) => metadata.name);
}

/** As the SDKs do: what is refused for now, or cut off, is asked again. */
async function askWithRetries(): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await call(host, chatPath, question).catch(() => null);
    if (answer !== null && answer.status < 500) return answer;
    if (attempt === 5) throw new Error(`five times without an answer: ${JSON.stringify(answer)}`);
    await sleep(1_000);
  }
}

test('50 requests to a sleeping service are all answered, although the operator is killed meanwhile', async () => {
  await fallAsleep();
  const asked: Promise<Answer>[] = [];
  for (let sent = 0; sent < 50; sent += 1) {
    asked.push(call(host, chatPath, question));
    await sleep(20);
  }
  const operators = await podNames('llmservice-operator');
  await kubectl(['delete', 'pods', '-n', system, ...operators, '--force', '--grace-period=0']);
  const answers = await Promise.all(asked);
  expect(answers.filter(({ status, body }) => status !== 200 || !body.includes('Paris'))).toEqual([]);
  await kubectl(['rollout', 'status', 'deployment/llmservice-operator', '-n', system, '--timeout=120s']);
});

test('a stream to a sleeping service begins, and brings its answer once a pod is there', async () => {
  await fallAsleep();
  const events: string[] = [];
  for await (const { data } of stream(host, chatPath, question)) events.push(data);
  expect(events.at(-1)).toBe('[DONE]');
  expect(events.join('')).toContain('Paris');
});

test('when an activator ends, clients that ask again as the SDKs do get their answers', async () => {
  await fallAsleep();
  const asked = Array.from({ length: 20 }, askWithRetries);
  const [activator = ''] = await podNames('llmservice-activator');
  await kubectl(['delete', 'pod', '-n', system, activator, '--wait=false']);
  const answers = await Promise.all(asked);
  expect(answers.filter(({ status, body }) => status !== 200 || !body.includes('Paris'))).toEqual([]);
  expect(await podsOf('sleeper')).toHaveLength(1);
  await kubectl([
    'rollout',
    'status',
    'deployment/llmservice-operator-activator',
    '-n',
    system,
    '--timeout=120s',
  ]);
});
