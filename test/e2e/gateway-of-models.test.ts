// Many models behind one address on a real node: routers in pods behind Envoy, taken away by the kubelet while streams run,
// their table brought by it too.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, getJson, kubectl, signalInPod } from './cluster.js';
import { call, chatBody, chatPath, stream } from './gateway.js';
import { KubectlLlm } from './kubectl-llm.js';
import {
  conditionOf,
  makeNamespace,
  namespace,
  podOf,
  podsOf,
  remove,
  serviceOf,
  waitReady,
  type PodState,
} from './service.js';

jest.setTimeout(480_000);
const host = 'models.e2e.example';
const question = 'What is the capital of France?';
const inNamespace = ['-n', namespace];

interface Listed {
  readonly data: readonly { readonly id: string; readonly owned_by: string }[];
}

interface Answered {
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

function model(name: string, uri: string): object {
  const service = serviceOf(name, { uri }) as { spec: { model: object } };
  return { ...service, spec: { ...service.spec, model: { ...service.spec.model, name: `${name}-own` } } };
}

const patch = (object: string, spec: object): Promise<string> =>
  kubectl(['patch', object, ...inNamespace, '--type=merge', '-p', JSON.stringify({ spec })]);

const listedNames = async (): Promise<string[]> => {
  const { data } = JSON.parse((await call(host, '/v1/models')).body) as Listed;
  return data.map(({ id }) => id);
};

async function textOf(content: string, name: string): Promise<string[]> {
  const texts: string[] = [];
  let last = '';
  for await (const { data } of stream(host, chatPath, chatBody(content, { model: name }))) {
    last = data;
    if (data !== '[DONE]') texts.push((JSON.parse(data) as Chunk).choices[0]?.delta.content ?? '');
  }
  expect(last).toBe('[DONE]');
  return texts.filter((text) => text !== '');
}

async function routers(): Promise<readonly PodState[]> {
  const selector = ['-l', 'llmservice.dev/gateway=models'];
  return (await getJson<{ items: readonly PodState[] }>(['pods', ...inNamespace, ...selector])).items;
}

async function modelStates(): Promise<string[]> {
  const { status } = await getJson<{ status: { models: { state: string }[] } }>([
    'llmgw/models',
    ...inNamespace,
  ]);
  return status.models.map(({ state }) => state);
}

/** How many requests a router had not answered when it got SIGTERM; null: it has not got it. */
async function openAtSignal(router: string): Promise<number | null> {
  const lines = (await kubectl(['logs', router, ...inNamespace])).trimEnd().split('\n');
  const entries = lines.map(
    (line) => JSON.parse(line) as { readonly message: string; readonly open: number },
  );
  return entries.find(({ message }) => message === 'draining')?.open ?? null;
}

beforeAll(async () => {
  await makeNamespace();
  const uri = await upload('demo', demoModel());
  await apply(model('first', uri), model('second', uri));
  await apply({
    apiVersion: 'llmservice.dev/v1alpha1',
    kind: 'LlmGateway',
    metadata: { name: 'models', namespace },
    spec: {
      models: [
        { name: 'chat', service: 'first', aliases: ['gpt-4o'] },
        { name: 'small', service: 'second' },
      ],
      routing: { host },
    },
  });
  await Promise.all([waitReady('first'), waitReady('second')]);
  // Behind a restart of the API server the cluster's gateway starts again, too, and takes over its lease.
  for (const condition of ['Programmed', 'Ready'])
    await kubectl(['wait', `--for=condition=${condition}`, 'llmgw/models', ...inNamespace, '--timeout=180s']);
  await kubectl(['rollout', 'status', 'deployment/models-gateway', ...inNamespace, '--timeout=60s']);
  await eventually('the route', async () => (await call(host, '/v1/models')).status === 200, 60_000);
  // A gateway is Ready with one model that answers.
  await eventually(
    'both models',
    async () => (await modelStates()).every((state) => state === 'Ready'),
    60_000,
  );
  // A pod that is ready has connections refused until the node's kube-proxy knows it.
  for (const name of ['chat', 'small'])
    await eventually(
      `an answer of ${name}`,
      async () => (await call(host, chatPath, chatBody(question, { model: name }))).status === 200,
    );
});
afterAll(async () => {
  await kubectl(['delete', 'llmgw', 'models', ...inNamespace, '--ignore-not-found']);
  await remove('first', 'second');
});

test('one address lists both models, and the body says which service answers', async () => {
  expect(await listedNames()).toEqual(['chat', 'gpt-4o', 'small']);
  const ask = async (name: string): Promise<[string, string]> => {
    const { status, body } = await call(host, chatPath, chatBody(question, { model: name }));
    expect([status, body]).toEqual([200, expect.stringContaining('Paris')]);
    const answer = JSON.parse(body) as Answered;
    return [answer.model, answer.choices[0]!.message.content];
  };
  expect((await ask('chat'))[0]).toBe('first-own');
  expect((await ask('gpt-4o'))[0]).toBe('first-own');
  expect((await ask('small'))[0]).toBe('second-own');
});

test('kubectl llm status and the doctor know it', async () => {
  const plugin = new KubectlLlm();
  try {
    const { stdout } = await plugin.run(['status', 'models']);
    expect(stdout).toMatch(/^e2e\/models: ready, Serving: 2 of 2 models answer/);
    expect(stdout).toMatch(/^ {2}small +second +Ready$/m);
    const { stdout: found } = await plugin.run(['doctor', 'first']);
    expect(found).toContain(`  ok      e2e/models: ready, 2 models by http://${host}/`);
  } finally {
    plugin.remove();
  }
});

test('a streamed answer comes in pieces', async () => {
  // A busy machine sends what has come meanwhile as one; what does not stream never comes in pieces.
  const pieces = await eventually('an answer in pieces', async () => {
    const texts = await textOf(question, 'chat');
    return texts.length > 2 ? texts : null;
  });
  expect(pieces.join('')).toContain('Paris');
});

test('an unknown model is refused with the names near to it', async () => {
  const { status, body } = await call(host, chatPath, chatBody(question, { model: 'smal' }));
  expect([status, JSON.parse(body)]).toEqual([
    404,
    {
      error: expect.objectContaining({
        code: 'model_not_found',
        param: 'model',
        message: expect.stringContaining('near to it: small'),
      }),
    },
  ]);
});

test('a router that the kubelet ends cuts none of its streams', async () => {
  const clients = 16;
  const body = chatBody('Tell me about the project.', { model: 'chat', max_tokens: 400, ignore_eos: true });
  const streams = Array.from({ length: clients }, () => stream(host, chatPath, body));
  const firsts = streams.map(async (each) => (await each.next()).done);
  const pod = await podOf('first');
  const server = (signal: 'SIGSTOP' | 'SIGCONT'): void =>
    signalInPod(pod.metadata.name, 'runtime/dist/main.js', signal);
  expect(await Promise.all(firsts)).toEqual(Array.from({ length: clients }, () => false));
  // So that they last for longer than the kubelet waits before it signals the router.
  server('SIGSTOP');
  const before = await routers();
  const ended = before[0]!.metadata;
  try {
    await kubectl(['delete', 'pod', ended.name, ...inNamespace, '--wait=false']);
    const open = await eventually('it to drain', () => openAtSignal(ended.name), 30_000);
    expect(open).toBeGreaterThan(0);
  } finally {
    server('SIGCONT');
  }
  const lasts = streams.map(async (each) => {
    let last = '';
    for await (const { data } of each) last = data;
    return last;
  });
  expect(await Promise.all(lasts)).toEqual(Array.from({ length: clients }, () => '[DONE]'));
  await eventually('another router', async () => {
    const now = await routers();
    return now.length === before.length && now.every(({ metadata }) => metadata.uid !== ended.uid);
  });
});

test('a changed table reaches routers that run, and a service that sleeps is woken', async () => {
  const uids = async (): Promise<string[]> => (await routers()).map(({ metadata }) => metadata.uid).sort();
  const before = await uids();
  await patch('llm/second', { scaling: { idleAfterSeconds: 5 } });
  await patch('llmgw/models', {
    models: [
      { name: 'chat', service: 'first' },
      { name: 'small', service: 'second', aliases: ['tiny'] },
    ],
  });
  await eventually(
    'sleep',
    async () => {
      const ready = await conditionOf('second', 'Ready');
      return ready?.reason === 'Asleep' && (await podsOf('second')).length === 0;
    },
    120_000,
  );
  await eventually(
    'the table at both routers',
    async () => {
      const lists = await Promise.all(Array.from({ length: 8 }, listedNames));
      return lists.every((names) => names.join() === 'chat,small,tiny');
    },
    120_000,
  );
  expect((await textOf(question, 'tiny')).join('')).toContain('Paris');
  expect(await podsOf('second')).toHaveLength(1);
  expect(await uids()).toEqual(before);
});
