// Sleep and wake on a real node, through the gateway: who asks a service without pods gets an answer, whatever else ends
// meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, getJson, kubectl, nodeAddress, signalInPod } from './cluster.js';
import { fetchWithHost } from './fetch-with-host.js';
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

async function activatorsReady(): Promise<void> {
  const deployment = 'deployment/llmservice-operator-activator';
  await kubectl(['rollout', 'status', deployment, '-n', system, '--timeout=120s']);
}

/** How many requests an activator holds. */
async function heldBy(pod: string): Promise<number> {
  const script = `fetch('http://127.0.0.1:8081/metrics').then((r) => r.text()).then(console.log)`;
  const metrics = await kubectl(['exec', '-n', system, pod, '--', 'node', '-e', script]);
  return Number(/^llmservice_activator_held (\d+)$/m.exec(metrics)?.[1]);
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
  await activatorsReady();
});

test('SIGKILL of one of two activators fails only what it held, which the SDK asks again', async () => {
  await fallAsleep();
  const [victim = '', other = ''] = await podNames('llmservice-activator');
  let cut = 0;
  const counting: typeof fetch = async (url, init) => {
    const response = await fetchWithHost(host)(url, init).catch((error: unknown) => {
      cut += 1;
      throw error;
    });
    if (!response.ok) cut += 1;
    return response;
  };
  const client = new OpenAI({
    baseURL: `http://${nodeAddress}/openai/v1`,
    apiKey: 'none',
    fetch: counting,
    // Two by default; the gateway has the address of the dead one until the kubelet, which may be busy, reports it.
    maxRetries: 5,
  });
  const ask = async (): Promise<string | null> => {
    const { choices } = await client.chat.completions.create(question);
    return choices[0]!.message.content;
  };
  const asked = Array.from({ length: 20 }, ask);
  const held = await eventually('all to be held', async () => {
    const [byVictim, byOther] = await Promise.all([heldBy(victim), heldBy(other)]);
    return byVictim + byOther === asked.length ? byVictim : null;
  });
  signalInPod(victim, 'operator/dist/activator/main.js', 'SIGKILL');
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer?.includes('Paris') !== true)).toEqual([]);
  expect(held).toBeGreaterThan(0);
  expect(cut).toBeGreaterThanOrEqual(held);
  expect(await podsOf('sleeper')).toHaveLength(1);
  await activatorsReady();
});
