// Requests with and without API keys, at a server with the real routes: who is let in, what budgets refuse, whose share
// of the engine a request takes, and what is accounted.

import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { isAnthropicPath } from '@llmservice/crds';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { mountedRoutes } from '../api/route-table.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { byteIds, endless, output, says } from '../scripted-engine.fixture.js';
import type { AccountingRecord } from '../../accounting/accounting-record.js';
import { configuredKey } from '../../keys/configured-key.fixture.js';
import { momentOf } from '../../keys/moment.fixture.js';
import { KeySet } from '../../keys/key-set.js';
import type { Access } from './access.js';

const keys = new KeySet([
  configuredKey('free'),
  configuredKey('small', { tokensPerMinute: 60 }),
  configuredKey('single', { concurrency: 1 }),
  configuredKey('urgent', { priority: -3, weight: 4 }),
  configuredKey('one', { cacheGroup: 'both' }),
  configuredKey('two', { cacheGroup: 'both' }),
]);
const bearer = (id: string) => ({ authorization: `Bearer secret-${id}` });
const body = { prompt: 'abcdefghi', max_tokens: 20 };

let server: ScriptedServer;
const records: AccountingRecord[] = [];
let now = Date.parse('2026-01-01T00:00:00Z');

async function start(access: Partial<Access> = {}): Promise<void> {
  records.length = 0;
  const log = { add: (record: AccountingRecord) => void records.push(record) };
  server = await ScriptedServer.start({ access: { keys, log, clock: () => momentOf(now), ...access } });
}
afterEach(() => server.stop());

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

const metric = async (name: string): Promise<number> => {
  const text = await (await server.get('/metrics')).text();
  return Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(text)?.[1]);
};
const accounted = async (count: number): Promise<AccountingRecord[]> => {
  for (let i = 0; i < 2_500 && records.length < count; i++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(records).toHaveLength(count);
  return records;
};

describe('a server with keys', () => {
  test.each([
    ...mountedRoutes
      .filter(({ path }) => !['/metrics', '/ui'].includes(path) && !/health|stream-check/.test(path))
      .map(({ method, path }) => [method.toUpperCase(), path.replace('{name}', 'tiny')]),
    ['GET', '/surprise'],
    ['GET', '/health/'],
    ['OPTIONS', '/v1/models'],
  ])('lets nobody in at %s %s without one', async (method, path) => {
    await start();
    const init = method === 'POST' ? { method, body: '{' } : { method };
    const response = await fetch(server.url + path, init);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.json()).toEqual({
      ...(isAnthropicPath(path) ? { type: 'error', request_id: null } : {}),
      error: {
        message: expect.stringContaining('Authorization: Bearer KEY'),
        type: isAnthropicPath(path) ? 'authentication_error' : 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    });
  });

  test.each<[string, Record<string, string>, number]>([
    ['OpenAI’s clients', bearer('free'), 200],
    ['Anthropic’s clients', { 'x-api-key': 'secret-free' }, 200],
    ['a client that writes bearer small', { authorization: 'bearer secret-free' }, 200],
    [
      'a client behind a proxy with a password',
      { authorization: 'Basic eDp5', 'x-api-key': 'secret-free' },
      200,
    ],
    ['a wrong key', { authorization: 'Bearer secret-nobody' }, 401],
    ['a key with something behind it', { authorization: 'Bearer secret-free secret-free' }, 401],
    ['no key behind the word', { authorization: 'Bearer' }, 401],
    ['the wrong place', { 'x-api-key': 'Bearer secret-free' }, 401],
  ])('%s', async (_, headers, status) => {
    await start();
    const response = await server.post('/v1/completions', body, headers);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
    expect(await metric('llmservice_unauthorized_total{model_name="tiny"}')).toBe(status === 401 ? 1 : 0);
  });

  test.each(['/health', '/healthz/live', '/healthz/ready', '/healthz/startup', '/metrics'])(
    'shows %s',
    async (path) => {
      await start();
      expect((await server.get(path)).status).toBe(200);
    },
  );

  test.each(['/v1/stream-check', '/openai/v1/stream-check'])('answers %s', async (path) => {
    await start();
    expect((await server.post(path, {})).status).toBe(200);
  });

  test('lets in nobody whose key is withdrawn while the body comes', async () => {
    let known = keys;
    const looked = new EventEmitter();
    const find: KeySet['find'] = (presented) => {
      looked.emit('up');
      return known.find(presented);
    };
    await start({ keys: { find } });
    const asked = once(looked, 'up');
    let rest: ReadableStreamDefaultController<Uint8Array> | null = null;
    const text = Buffer.from(JSON.stringify(body));
    const slow = new ReadableStream<Uint8Array>({
      start: (controller) => {
        rest = controller;
        controller.enqueue(text.subarray(0, 5));
      },
    });
    const url = `${server.url}/v1/completions`;
    const answered = fetch(url, { method: 'POST', body: slow, headers: bearer('free'), duplex: 'half' });
    await asked;
    known = new KeySet([]);
    rest!.enqueue(text.subarray(5));
    rest!.close();
    expect((await answered).status).toBe(401);
    expect(server.engine.requests).toEqual([]);
  });

  test('shows metrics to keys only where that is said', async () => {
    await start({ protectMetrics: true });
    expect((await server.get('/metrics')).status).toBe(401);
    expect((await server.get('/metrics', bearer('free'))).status).toBe(200);
    expect((await server.get('/health')).status).toBe(200);
  });
});

describe('health', () => {
  const paths = ['/health', '/healthz/ready', '/v2/health/ready'];

  test.each(paths)('%s shows its state to all, and the rest to who has a key', async (path) => {
    await start();
    server.parts.lifecycle.fail({
      reason: 'S3Unavailable',
      message: 'https://user:hunter2@s3.internal is out of reach',
    });
    for (const headers of [{}, bearer('stranger')]) {
      const response = await server.get(path, headers);
      expect(response.status).toBe(503);
      const text = await response.text();
      expect(JSON.parse(text)).toEqual({
        ...(path.startsWith('/v2') ? { ready: false } : {}),
        state: 'failed',
        load: null,
      });
      expect(text).not.toMatch(/hunter2|tiny|MI300X/);
    }
    expect(await (await server.get(path, bearer('free'))).json()).toMatchObject({
      model: 'tiny',
      failure: { reason: 'S3Unavailable' },
    });
  });

  test('shows everything on a server without keys', async () => {
    await start({ keys: null });
    expect(await (await server.get('/health')).json()).toMatchObject({
      model: 'tiny',
      engine: { numBlocks: 8 },
    });
  });

  test('and liveness is shown to all', async () => {
    await start();
    for (const path of ['/healthz/live', '/healthz/startup', '/v2/health/live'])
      expect((await server.get(path)).status).toBe(200);
  });
});

describe('budgets', () => {
  test('refuse with a Retry-After that is true, say what is left, and end nothing that began', async () => {
    await start();
    server.script = says('x'.repeat(30));
    // 10 of the prompt (one token per byte, and one that begins it) and 31 of the answer; the bucket has 60.
    const first = await server.post('/v1/completions', body, bearer('small'));
    expect(first.status).toBe(200);
    expect([
      first.headers.get('x-ratelimit-limit-tokens'),
      first.headers.get('x-ratelimit-remaining-tokens'),
      first.headers.get('x-ratelimit-reset-tokens'),
    ]).toEqual(['60', '50', '10s']);
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
    // 82 spent of 60: 22 owed, and 10 for the prompt.
    const refused = await server.post('/v1/completions', body, bearer('small'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '32']);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'rate_limit_exceeded',
        type: 'rate_limit_error',
        message: expect.stringContaining('tokensPerMinute'),
      },
    });
    now += 31_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(429);
    now += 1_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
    expect((await server.post('/v1/completions', body, bearer('free'))).status).toBe(200);
    expect(
      await metric('llmservice_key_refused_total{model_name="tiny",key="small",limit="tokensPerMinute"}'),
    ).toBe(2);
    await accounted(4);
  });

  test('ask for all prompts of a request at once, and spend nothing where one of them is refused', async () => {
    await start();
    const prompts = (count: number): object => ({
      prompt: Array<string>(count).fill('abcdefghi'),
      max_tokens: 1,
    });
    const long = 'x'.repeat(64);
    for (let i = 0; i < 3; i++) {
      const response = await server.post(
        '/v1/completions',
        { prompt: ['x'.repeat(50), long] },
        bearer('small'),
      );
      expect(response.status).toBe(400);
    }
    expect((await server.post('/v1/completions', prompts(1), bearer('small'))).status).toBe(200);
    expect((await server.post('/v1/completions', prompts(6), bearer('small'))).status).toBe(429);
    expect((await server.post('/v1/completions', prompts(4), bearer('small'))).status).toBe(200);
    await accounted(2);
  });

  test('spend nothing on a prompt whose client goes while it is prepared', async () => {
    await start();
    const { chatTemplate } = server.parts.lifecycle.model!;
    const begun = new Promise<void>((resolve) => {
      jest.spyOn(chatTemplate!, 'render').mockImplementationOnce(async () => {
        resolve();
        while (!server.parts.running.values().next().value!.controller.signal.aborted) await tick();
        return 'x'.repeat(50);
      });
    });
    const client = new AbortController();
    const { signal } = client;
    const chat = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] });
    const headers = bearer('small');
    const url = `${server.url}/v1/chat/completions`;
    const asked = fetch(url, { method: 'POST', body: chat, headers, signal }).catch(() => undefined);
    await begun;
    client.abort();
    await asked;
    while (server.parts.running.size > 0) await tick();
    const response = await server.post('/v1/completions', body, headers);
    expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('50');
  });

  test('count requests that run at once', async () => {
    await start();
    server.script = endless;
    const running = await server.post('/v1/completions', { ...body, stream: true }, bearer('single'));
    const refused = await server.post('/v1/completions', body, bearer('single'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await running.body!.cancel();
    await accounted(1);
    server.script = says('x');
    expect((await server.post('/v1/completions', body, bearer('single'))).status).toBe(200);
  });

  test('give back the place of a request that is refused later', async () => {
    await start();
    for (let i = 0; i < 3; i++) {
      const response = await server.post('/v1/completions', { prompt: 'x'.repeat(64) }, bearer('single'));
      expect(response.status).toBe(400);
    }
    expect(records).toEqual([]);
  });
});

describe('texts that are not generated from', () => {
  const text = 'x'.repeat(300);
  const messages = [{ role: 'user', content: text }];
  const ids = byteIds(text);

  const costly: [string, object][] = [
    ['/tokenize', { prompt: text }],
    ['/detokenize', { tokens: ids }],
    ['/apply-template', { messages }],
    ['/v1/messages/count_tokens', { model: 'tiny', messages }],
  ];

  test.each(costly)('of %s are accounted, and bill no tokens', async (path, request) => {
    await start();
    const response = await server.post(path, request, bearer('small'));
    expect([response.status, response.headers.get('x-ratelimit-remaining-tokens')]).toEqual([200, '60']);
    const [record] = await accounted(1);
    expect(record).toMatchObject({
      id: response.headers.get('x-request-id'),
      key: 'small',
      route: path,
      promptTokens: 0,
      completionTokens: 0,
      finish: [],
    });
    expect(record!.textTokens).toBeGreaterThan(70);
  });

  test.each([...costly, ['/v1/embeddings', { input: 'x' }], ['/generate', { prompt: 'x' }], ['/warmup', {}]])(
    'a key without tokens left gets no work of %s, not even its body read',
    async (path, request) => {
      await start();
      server.script = says('x'.repeat(30));
      for (let i = 0; i < 2; i++) await server.post('/v1/completions', body, bearer('small'));
      await accounted(2);
      const encode = jest.spyOn(server.parts.lifecycle.model!.tokenizer, 'encode');
      const render = jest.spyOn(server.parts.lifecycle.model!.chatTemplate!, 'render');
      const open = jest.spyOn(server.parts.bodies, 'open');
      const asked = server.engine.requests.length;
      expect((await server.post(path, request, bearer('small'))).status).toBe(429);
      expect([encode, render, open].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0]);
      expect(server.engine.requests).toHaveLength(asked);
    },
  );

  test('have a budget of ten times the key’s, and refused requests spend of it', async () => {
    await start();
    const limit = 'llmservice_key_refused_total{model_name="tiny",key="small",limit="textTokensPerMinute"}';
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await server.post('/tokenize', { prompt: text }, bearer('small'))).status);
    // Far too long for the context, each time.
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await server.post('/v1/completions', body, bearer('small'));
    expect([refused.status, await metric(limit)]).toEqual([429, 2]);
    expect(await refused.text()).toContain('textTokensPerMinute: 600');
    now += 60_000;
    const long = { prompt: 'x'.repeat(2500) };
    expect((await server.post('/v1/completions', long, bearer('small'))).status).toBe(400);
    expect((await server.post('/v1/completions', long, bearer('small'))).status).toBe(429);
  });

  test('are what a body costs that is no request', async () => {
    await start();
    const refused = { prompt: 'x', surprise: 'x'.repeat(2500) };
    expect((await server.post('/v1/completions', refused, bearer('small'))).status).toBe(400);
    await tick();
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(429);
    now += 60_000;
    expect((await server.post('/v1/completions', body, bearer('small'))).status).toBe(200);
  });

  test('count among the requests of a key that run at once, and end when their client goes', async () => {
    await start();
    const { chatTemplate } = server.parts.lifecycle.model!;
    jest.spyOn(chatTemplate!, 'render').mockImplementationOnce(() => new Promise(() => undefined));
    const client = new AbortController();
    const asked = fetch(`${server.url}/apply-template`, {
      method: 'POST',
      body: JSON.stringify({ messages }),
      headers: bearer('single'),
      signal: client.signal,
    }).catch(() => undefined);
    while (server.parts.running.size === 0) await tick();
    expect((await server.post('/tokenize', { prompt: 'x' }, bearer('single'))).status).toBe(429);
    client.abort();
    await asked;
    while (server.parts.running.size > 0) await tick();
    expect((await server.post('/tokenize', { prompt: 'x' }, bearer('single'))).status).toBe(200);
  });

  test('are refused with the rest where the server is full', async () => {
    await start({ keys: null });
    server.script = endless;
    const full = Array.from({ length: 8 }, () => server.post('/v1/completions', { ...body, stream: true }));
    const streams = await Promise.all(full);
    for (const [path, request] of costly) expect((await server.post(path, request)).status).toBe(503);
    await Promise.all(streams.map((stream) => stream.body!.cancel()));
  });
});

describe('the share of the engine', () => {
  test.each<[string, object, object]>([
    ['free', { user: 'someone' }, { fairnessKey: 'free', priority: 0 }],
    ['free', { priority: 5 }, { fairnessKey: 'free', priority: 5 }],
    ['urgent', {}, { fairnessKey: 'urgent', priority: -5 }],
    ['urgent', { priority: 0 }, { fairnessKey: 'urgent', priority: -2 }],
  ])('of the key %s, asked with %j', async (id, fields, expected) => {
    await start();
    await server.post('/v1/completions', { ...body, ...fields }, bearer(id));
    expect(server.engine.requests[0]).toMatchObject(expected);
  });

  test('of a request that asks for more than its key may is refused', async () => {
    await start();
    const response = await server.post('/v1/completions', { ...body, priority: -4 }, bearer('urgent'));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'priority', message: expect.stringContaining('send -3 or more') },
    });
    expect(server.engine.requests).toEqual([]);
  });

  test('without keys is the user’s, at the priority that is asked for', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', { ...body, user: 'someone', priority: -8 });
    expect(server.engine.requests[0]).toMatchObject({ fairnessKey: 'someone', priority: -8 });
  });

  test.each(['/v1/completions', '/v1/embeddings', '/generate'])(
    'without keys is bounded at %s, and the refusal says by what',
    async (path) => {
      await start({ keys: null, mostUrgentPriority: -1 });
      const asked = { prompt: 'abc', priority: -2 };
      const refused = await server.post(
        path,
        path.endsWith('embeddings') ? { input: 'abc', priority: -2 } : asked,
      );
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        error: {
          param: 'priority',
          message: 'priority -2 is more urgent than requests may be here; send -1 or more',
        },
      });
      expect(server.engine.requests).toEqual([]);
      await server.post('/v1/completions', { ...body, priority: -1 });
      expect(server.engine.requests).toMatchObject([{ priority: -1 }]);
    },
  );
});

describe('cached prompts', () => {
  const salts = async (...asked: [id: string, fields: object][]): Promise<(string | null)[]> => {
    for (const [id, fields] of asked) {
      server.script = says('x');
      expect((await server.post('/v1/completions', { ...body, ...fields }, bearer(id))).status).toBe(200);
      server.script = async function* () {
        yield await Promise.resolve({
          ...output([]),
          embedding: Float32Array.of(1),
          finish: 'stop' as const,
        });
      };
      const embedded = await server.post('/v1/embeddings', { input: 'abc', ...fields }, bearer(id));
      expect(embedded.status).toBe(200);
    }
    return server.engine.requests.map(({ cacheSalt }) => cacheSalt);
  };

  test('are of one key, or of its group, and within it of one cache_salt', async () => {
    await start();
    const found = await salts(
      ['free', {}],
      ['single', {}],
      ['free', { cache_salt: 'x' }],
      ['one', {}],
      ['two', {}],
      ['two', { cache_salt: 'x' }],
    );
    const [free, , single, , salted, , one, , two] = found;
    // A completion and an embedding each.
    expect(found.filter((_, i) => i % 2 === 0)).toEqual(found.filter((_, i) => i % 2 === 1));
    expect(one).toBe(two);
    expect(new Set([free, single, salted, one, found.at(-1)]).size).toBe(5);
  });

  test('are everybody’s without keys, but for those with a cache_salt', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', body);
    await server.post('/v1/completions', { ...body, cache_salt: 'x' });
    expect(server.engine.requests.map(({ cacheSalt }) => cacheSalt)).toEqual([null, 'x']);
  });
});

describe('accounts', () => {
  interface Usage {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  }
  const usageOf = async (response: Response): Promise<Usage> => {
    const text = await response.text();
    const last = text.startsWith('data:')
      ? text.trimEnd().split('\n\n').at(-2)!.slice('data: '.length)
      : text;
    return (JSON.parse(last) as { usage: Usage }).usage;
  };

  test.each<[string, string, object]>([
    ['a completion', '/v1/completions', body],
    ['a stream', '/v1/completions', { ...body, stream: true }],
    ['a chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    [
      'a streamed chat',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'Hi' }], stream: true, stream_options: { include_usage: true } },
    ],
    ['a generated text', '/generate', { prompt: 'abc' }],
    ['several prompts', '/v1/completions', { prompt: ['a', 'bb', 'ccc'] }],
    ['several, streamed', '/v1/completions', { prompt: ['a', 'bb', 'ccc'], stream: true }],
  ])('have what %s reported to its client', async (_, path, request) => {
    await start();
    const response = await server.post(path, request, bearer('free'));
    const usage = await usageOf(response);
    const [record] = await accounted(1);
    expect(record).toEqual({
      time: new Date(now).toISOString(),
      id: response.headers.get('x-request-id'),
      key: 'free',
      route: path,
      model: 'tiny',
      promptTokens: usage.prompt_tokens,
      cachedTokens: usage.prompt_tokens_details.cached_tokens,
      completionTokens: usage.completion_tokens,
      reasoningTokens: 0,
      textTokens: 0,
      finish: Array.from(
        { length: 'prompt' in request && Array.isArray(request.prompt) ? 3 : 1 },
        () => 'stop',
      ),
    });
    expect(await metric('llmservice_key_prompt_tokens_total{model_name="tiny",key="free"}')).toBe(
      usage.prompt_tokens,
    );
    expect(await metric('llmservice_key_completion_tokens_total{model_name="tiny",key="free"}')).toBe(
      usage.completion_tokens,
    );
    expect(await metric('llmservice_key_requests_total{model_name="tiny",key="free"}')).toBe(1);
  });

  test('have :predict and embeddings too', async () => {
    await start();
    const predicted = await server.post('/v1/models/tiny:predict', { instances: ['a', 'b'] }, bearer('free'));
    const { predictions } = (await predicted.json()) as {
      predictions: { prompt_tokens: number; completion_tokens: number }[];
    };
    server.script = function* () {
      yield { ...output([], 'stop'), embedding: Float32Array.of(3, 4) };
    };
    const embedded = await server.post('/v1/embeddings', { input: ['a', 'bb'] }, bearer('free'));
    const { usage } = (await embedded.json()) as { usage: Usage };
    const [first, second] = await accounted(2);
    const sum = (field: 'prompt_tokens' | 'completion_tokens'): number =>
      predictions.reduce((total, each) => total + each[field], 0);
    expect(first).toMatchObject({
      id: predicted.headers.get('x-request-id'),
      route: '/v1/models/:name:predict',
      promptTokens: sum('prompt_tokens'),
      completionTokens: sum('completion_tokens'),
      finish: ['stop', 'stop'],
    });
    expect(second).toMatchObject({
      id: embedded.headers.get('x-request-id'),
      promptTokens: usage.prompt_tokens,
      completionTokens: 0,
      finish: ['stop', 'stop'],
    });
  });

  test('of a client that goes away have what was generated for it until then', async () => {
    await start();
    server.script = endless;
    const response = await server.post('/v1/completions', { ...body, stream: true }, bearer('free'));
    const reader = response.body!.getReader();
    for (let i = 0; i < 4; i++) await reader.read();
    await reader.cancel();
    const [record] = await accounted(1);
    expect(record).toMatchObject({ promptTokens: 10, finish: ['abort'] });
    expect(record!.completionTokens).toBeGreaterThanOrEqual(4);
    expect(await metric('vllm:generation_tokens_total{model_name="tiny",engine="0"}')).toBe(
      record!.completionTokens,
    );
    expect(await metric('llmservice_key_completion_tokens_total{model_name="tiny",key="free"}')).toBe(
      record!.completionTokens,
    );
  });

  test('of a request that fails in mid-stream have what was generated until then', async () => {
    await start();
    server.script = function* () {
      yield output(byteIds('abc'));
      throw new Error('broken');
    };
    await (await server.post('/v1/completions', { ...body, stream: true }, bearer('free'))).text();
    expect(await accounted(1)).toMatchObject([{ completionTokens: 3, finish: ['error'] }]);
  });

  test('are there when the server has closed, also of a client that reads nothing', async () => {
    await start();
    let steps = 0;
    server.script = async function* (_request, signal) {
      while (!signal.aborted) {
        steps += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield output(byteIds('a'.repeat(10_000)));
      }
    };
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause();
    socket.on('error', () => undefined);
    const text = JSON.stringify({ ...body, stream: true, return_token_ids: true });
    const { authorization } = bearer('free');
    const head = `host: x\r\nauthorization: ${authorization}\r\ncontent-length: ${String(text.length)}`;
    socket.write(`POST /v1/completions HTTP/1.1\r\n${head}\r\n\r\n${text}`);
    for (let last = -1; last !== steps || steps === 0;) {
      last = steps;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await server.http.drain(50);
    await server.http.close();
    expect(records).toMatchObject([{ finish: ['error'] }]);
    socket.destroy();
  });

  test('are kept without keys as well', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', body);
    expect(await accounted(1)).toMatchObject([{ key: null, promptTokens: 10 }]);
  });
});
