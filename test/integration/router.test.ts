// Many models behind one address: the router as a process in front of two whole replicas of different names, by OpenAI's and
// Anthropic's own clients.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { AuthenticationError, NotFoundError, RateLimitError } from 'openai';
import { eventually, freePort, stop } from '../processes.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { modelRoute, RouterProcess } from './router-process.js';

jest.setTimeout(120_000);

const keys = [
  { id: 'team-a', text: 'key-of-a' },
  { id: 'team-b', text: 'key-of-b', cacheGroup: 'partners' },
  { id: 'team-c', text: 'key-of-c', cacheGroup: 'partners', tokensPerDay: 120 },
];
let first: ReplicaProcess;
let second: ReplicaProcess;
let router: RouterProcess;
let nowhere: string;
let client: OpenAI;

const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ baseURL: `${router.url}/v1`, apiKey, maxRetries: 0 });

beforeAll(async () => {
  nowhere = `http://127.0.0.1:${String(await freePort())}`;
  [first, second] = (await Promise.all(
    ['first', 'second'].map((name) => ReplicaProcess.start({ uri: demoCheckpoint, name })),
  )) as [ReplicaProcess, ReplicaProcess];
  await Promise.all([first.ready(), second.ready()]);
  router = await RouterProcess.start({
    routes: [
      modelRoute('first', first.url, { aliases: ['gpt-4o'] }),
      modelRoute('second', second.url, { visibleTo: ['partners'] }),
      modelRoute('away', nowhere, { fallback: ['second', 'first'] }),
      modelRoute('lost', nowhere),
    ],
    keys,
    env: { MAX_BODY_BYTES: String(2 ** 20) },
  });
  client = clientOf('key-of-b');
}, 240_000);
afterAll(async () => {
  await router.stop();
  await Promise.all([first.stop(), second.stop()]);
});

const messages = [{ role: 'user' as const, content: 'What is the capital of France?' }];
const chat = (model: string) => ({ model, messages, temperature: 0, max_completion_tokens: 24 });
const long = (model: string, tokens = 900) => ({
  ...{ model, prompt: 'The capital of', max_tokens: tokens, stream: true as const },
  ...{ ignore_eos: true },
});
const inFlight = async (replica: ReplicaProcess) => (await replica.health()).engine?.inFlight;

describe('a request', () => {
  test('goes to the service that its model names', async () => {
    for (const name of ['first', 'second']) {
      const { data, response } = await client.chat.completions.create(chat(name)).withResponse();
      expect(data.model).toBe(name);
      expect(data.choices[0]!.message.content).toContain('Paris');
      expect(response.headers.get('x-llmservice-fallback')).toBeNull();
    }
  });

  test('by an alias goes to its model', async () => {
    const { model } = await client.chat.completions.create(chat('gpt-4o'));
    expect(model).toBe('first');
  });

  test('of Messages and of Responses, and one that counts tokens, go the same way', async () => {
    const anthropic = new Anthropic({ baseURL: router.url, apiKey: 'key-of-b', maxRetries: 0 });
    const message = await anthropic.messages.create({ model: 'second', max_tokens: 8, messages });
    expect(message.model).toBe('second');
    expect(await anthropic.messages.countTokens({ model: 'first', messages })).toMatchObject({
      input_tokens: expect.any(Number),
    });
    const response = await client.responses.create({ model: 'first', input: 'Hello', max_output_tokens: 16 });
    expect(response.model).toBe('first');
    expect((await client.embeddings.create({ model: 'second', input: 'a' })).model).toBe('second');
  });

  test('has its name on the service, the answer and the way between', async () => {
    const { response } = await client.completions
      .create({ model: 'first', prompt: 'a', max_tokens: 1 }, { headers: { 'x-request-id': 'mine-1' } })
      .withResponse();
    expect(response.headers.get('x-request-id')).toBe('mine-1');
  });

  test('is answered by the next model where no pod of its own is there, and says by which', async () => {
    const { data, response } = await client.chat.completions.create(chat('away')).withResponse();
    expect(data.model).toBe('second');
    expect(response.headers.get('x-llmservice-fallback')).toBe('second');
    const series = 'llmservice_router_requests_total{model="away",outcome="fallback_answered"}';
    expect(await router.metric(series)).toBe(1);
  });

  test('without another model is refused with when to come again', async () => {
    const error = await client.chat.completions.create(chat('lost')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 503, code: 'model_not_ready' });
  });

  test('of more than the bound is refused with the bound, announced or not', async () => {
    const body = JSON.stringify({ ...chat('first'), user: 'x'.repeat(2 ** 20) });
    const headers = { authorization: 'Bearer key-of-b' };
    const streamed = new Blob([body]).stream();
    for (const sent of [body, streamed]) {
      const init = { method: 'POST', headers, body: sent, duplex: 'half' } as RequestInit;
      const answer = await fetch(`${router.url}/v1/chat/completions`, init);
      expect(answer.status).toBe(413);
      expect(await answer.text()).toContain('1048576');
    }
  });
});

describe('a model', () => {
  test('is listed to the keys that may see it, and found by its aliases', async () => {
    const listed = async (key: string): Promise<string[]> =>
      (await clientOf(key).models.list()).data.map(({ id }) => id);
    expect(await listed('key-of-a')).toEqual(['first', 'gpt-4o', 'away', 'lost']);
    expect(await listed('key-of-b')).toEqual(['first', 'gpt-4o', 'second', 'away', 'lost']);
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o', root: 'first' });
  });

  test('that is unknown is refused with the names near to it', async () => {
    const asked = client.chat.completions.create(chat('frist'));
    await expect(asked).rejects.toThrow(NotFoundError);
    await expect(asked).rejects.toMatchObject({ code: 'model_not_found', param: 'model' });
    await expect(asked).rejects.toThrow('near to it: first');
  });

  test('that a key may not see is as one that is not there', async () => {
    const hidden = clientOf('key-of-a').chat.completions.create(chat('second'));
    await expect(hidden).rejects.toThrow(NotFoundError);
    await expect(hidden).rejects.not.toThrow('near to it: second');
  });

  test('is nothing to a key that is unknown', async () => {
    await expect(clientOf('another').models.list()).rejects.toThrow(AuthenticationError);
  });
});

describe('a key’s budget', () => {
  const tokens = (key: string, model: string, kind: string) =>
    router.metric(`llmservice_router_key_tokens_total{key="${key}",model="${model}",kind="${kind}"}`);

  test('is of all models: what each answer says that it took, whole or streamed, and no token more', async () => {
    const own = clientOf('key-of-c');
    const { usage: whole } = await own.chat.completions.create(chat('first'));
    const stream = await own.chat.completions.create({
      ...{ ...chat('second'), stream: true, max_completion_tokens: 200 },
      ...{ stream_options: { include_usage: true }, ignore_eos: true },
    });
    let streamed: OpenAI.CompletionUsage | null = null;
    for await (const { usage } of stream) streamed = usage ?? streamed;
    await eventually('the router to count it', async () => (await tokens('team-c', 'second', 'prompt')) > 0);
    for (const [model, usage] of [
      ['first', whole!],
      ['second', streamed!],
    ] as const) {
      expect(await tokens('team-c', model, 'prompt')).toBe(usage.prompt_tokens);
      expect(await tokens('team-c', model, 'completion')).toBe(usage.completion_tokens);
    }
    const refused = own.chat.completions.create(chat('first'));
    await expect(refused).rejects.toThrow(RateLimitError);
    await expect(refused).rejects.toThrow('tokensPerDay: 120');
    const { headers } = (await refused.catch((error: unknown) => error)) as RateLimitError;
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    const anthropic = new Anthropic({ baseURL: router.url, apiKey: 'key-of-c', maxRetries: 0 });
    await expect(anthropic.messages.create({ model: 'first', max_tokens: 8, messages })).rejects.toThrow(
      Anthropic.RateLimitError,
    );
    const series = 'llmservice_router_key_refused_total{key="team-c",limit="tokensPerDay"}';
    expect(await router.metric(series)).toBe(2);
  });

  test('pays for a client that went what the replica computed until then', async () => {
    const stream = await clientOf('key-of-a').completions.create(long('first'));
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    await eventually(
      'the router to count it',
      async () => (await tokens('team-a', 'first', 'completion')) > 0,
    );
    expect(await tokens('team-a', 'first', 'completion')).toBeLessThan(900);
    expect(await router.metric('llmservice_router_estimated_total{model="first"}')).toBe(0);
  });
});

describe('a router that is started again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'llmservice-router-accounting-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const startOne = (name: string): Promise<RouterProcess> =>
    RouterProcess.start({
      ...{ routes: [modelRoute('first', first.url)], keys },
      env: { ACCOUNTING_DIR: join(folder, name), GATEWAY: 'default/all' },
    });
  const lines = (name: string): object[] =>
    readdirSync(join(folder, name)).flatMap((file) =>
      readFileSync(join(folder, name, file), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as object),
    );

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'by %s continues with what keys used of the day',
    async (signal) => {
      const before = await startOne(signal);
      const own = (router: RouterProcess) =>
        new OpenAI({ baseURL: `${router.url}/v1`, apiKey: 'key-of-c', maxRetries: 0 });
      try {
        const { usage } = await own(before).completions.create({
          ...long('first', 100),
          stream: false as const,
        });
        // What ended is on the disk within a moment; SIGTERM waits for it, and SIGKILL for nothing.
        const written = 'llmservice_router_accounting_lines_total';
        if (signal === 'SIGKILL')
          await eventually('its line', async () => (await before.metric(written)) === 1);
        await stop(before.child, signal);
        expect(lines(signal)).toMatchObject([
          {
            ...{ key: 'team-c', route: '/v1/completions', model: 'first', gateway: 'default/all' },
            ...{ promptTokens: usage!.prompt_tokens, completionTokens: 100, finish: ['answered'] },
          },
        ]);
      } finally {
        await before.stop();
      }
      const after = await startOne(signal);
      try {
        // Of 120 tokens a day the 100 and their prompt are gone.
        const prompt = 'The capital of France is a city. '.repeat(20);
        const asked = own(after).completions.create({ model: 'first', prompt, max_tokens: 1 });
        await expect(asked).rejects.toThrow('tokensPerDay: 120');
      } finally {
        await after.stop();
      }
    },
  );
});

describe('a stream', () => {
  test('comes as it is made, and ends on the service when the client goes', async () => {
    const stream = await client.completions.create(long('first'));
    await stream[Symbol.asyncIterator]().next();
    expect(await inFlight(first)).toBe(1);
    expect(await router.metric('llmservice_router_open')).toBe(1);
    stream.controller.abort();
    await eventually('the generation to end', async () => (await inFlight(first)) === 0);
    await eventually(
      'the router to forget it',
      async () => (await router.metric('llmservice_router_open')) === 0,
    );
  });

  test('continues where the table changes, and the next request goes by the new one', async () => {
    const own = await RouterProcess.start({ routes: [modelRoute('first', first.url)] });
    try {
      const open = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: 'none', maxRetries: 0 });
      const stream = await open.completions.create(long('first', 200));
      await own.take([modelRoute('other', second.url, { served: ['second'] })]);
      let reason: string | null = null;
      for await (const { choices } of stream) reason = choices[0]?.finish_reason ?? reason;
      expect(reason).toBe('length');
      await expect(open.completions.create({ model: 'first', prompt: 'a' })).rejects.toThrow(NotFoundError);
      expect((await open.completions.create({ model: 'other', prompt: 'a', max_tokens: 1 })).model).toBe(
        'second',
      );
    } finally {
      await own.stop();
    }
  });

  test('is not cut by SIGTERM: the router ends behind its last byte', async () => {
    const own = await RouterProcess.start({ routes: [modelRoute('first', first.url)] });
    try {
      const open = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: 'none', maxRetries: 0 });
      const stream = await open.completions.create(long('first'));
      own.child.kill('SIGTERM');
      await eventually('it to drain', async () => (await own.readiness()) === 503);
      let reason: string | null = null;
      for await (const { choices } of stream) reason = choices[0]?.finish_reason ?? reason;
      expect(reason).toBe('length');
      await eventually('the router to end', () => own.child.exitCode === 0);
    } finally {
      await own.stop();
    }
  });
});
