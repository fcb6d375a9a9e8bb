import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineOutput } from '../engine/protocol.js';
import { output, scriptedServer, type Script, type ScriptedServer } from './scripted-engine.fixture.js';

const byte = (text: string): number[] => [...Buffer.from(text)].map((value) => ids.get(value)!);
/** What of any answer the tests look at. */
interface Answer {
  readonly choices: readonly {
    readonly index: number;
    readonly text: string;
    readonly delta: { readonly content: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage: { readonly completion_tokens: number } | null;
  readonly error: { readonly message: string };
  readonly predictions: readonly { readonly response: string; readonly model_name: string }[];
}
const json = async (response: Response): Promise<Answer> => (await response.json()) as Answer;
/** Stands for the line that ends a stream. */
const done = { choices: [] as Answer['choices'], end: true } as unknown as Answer;

let ids: Map<number, number>;
let script: Script;
let server: ScriptedServer;

beforeEach(async () => {
  server = await scriptedServer((request, signal) => script(request, signal));
  const all = Array.from({ length: 256 }, (_, id) => [server.tokenizer.tokenBytes(id)[0]!, id] as const);
  ids = new Map(all);
  script = says('Hi', ' é', '!');
});
afterEach(() => server.http.close());

/** Each text is one engine step; the last ends with `stop`. */
function says(...steps: string[]): Script {
  return function* () {
    for (const step of steps) yield output(byte(step));
    yield { ...output([]), finish: 'stop', stopToken: 2 } satisfies EngineOutput;
  };
}

/** One token per 5 ms until nobody listens. */
const endless: Script = async function* (_request, signal) {
  while (!signal.aborted) {
    await sleep(5);
    yield output(byte('a'));
  }
};

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(server.url + path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
const chat = (body: object): Promise<Response> =>
  post('/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }], ...body });

async function events(response: Response): Promise<Answer[]> {
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  return lines.map((line) =>
    line === 'data: [DONE]' ? done : (JSON.parse(line.slice('data: '.length)) as Answer),
  );
}

describe('chat completions', () => {
  test('answers with every key that clients rely on', async () => {
    const body = await json(await chat({}));
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hi é!',
            reasoning: null,
            reasoning_content: null,
            tool_calls: [],
            refusal: null,
          },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: null,
          token_ids: null,
        },
      ],
      usage: {
        prompt_tokens: 6,
        completion_tokens: 7,
        total_tokens: 13,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      prompt_token_ids: null,
      system_fingerprint: expect.any(String),
    });
  });

  test('streams one chunk per engine step, in the reference shape', async () => {
    const response = await chat({ stream: true });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const chunks = await events(response);
    expect(chunks[0]).toEqual({
      id: expect.any(String),
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: 'tiny',
      choices: [
        {
          index: 0,
          delta: {
            role: 'assistant',
            content: 'Hi',
            reasoning: null,
            reasoning_content: null,
            tool_calls: [],
          },
          logprobs: null,
          finish_reason: null,
          stop_reason: null,
          token_ids: null,
        },
      ],
      usage: null,
      prompt_token_ids: null,
      system_fingerprint: expect.any(String),
    });
    const contents = chunks.slice(0, -1).map((chunk) => chunk.choices[0]!.delta.content);
    expect(contents).toEqual(['Hi', ' é', '!', '']);
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toBe(done);
  });

  test('include_usage adds one chunk without choices', async () => {
    const chunks = await events(await chat({ stream: true, stream_options: { include_usage: true } }));
    expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 6, completion_tokens: 7 } });
    expect(chunks.slice(0, -2).every((chunk) => chunk.usage === null)).toBe(true);
  });

  test('a character cut between two steps is never broken', async () => {
    const [first, second] = byte('é');
    script = function* () {
      yield output([first!]);
      yield output([second!], 'length');
    };
    const chunks = await events(await chat({ stream: true }));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content)).toEqual(['é', undefined]);
  });

  test('a stop string ends the text, and what follows is neither sent nor counted', async () => {
    script = says('one E', 'ND two', ' three');
    const body = await json(await chat({ stop: ['END'] }));
    expect(body.choices[0]).toMatchObject({
      message: { content: 'one ' },
      finish_reason: 'stop',
      stop_reason: 'END',
    });
    expect(body.usage!.completion_tokens).toBe('one END'.length);
    expect(server.engine.open).toBe(0);
  });

  test('passes every sampling field on to the engine', async () => {
    const fields = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 20,
      min_p: 0.1,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      repetition_penalty: 1.1,
    };
    await chat({ ...fields, max_completion_tokens: 9, stop_token_ids: [5] });
    const { sampling, maxTokens, stopTokens } = server.engine.requests[0]!;
    expect(sampling).toEqual({
      temperature: 0.5,
      topP: 0.9,
      topK: 20,
      minP: 0.1,
      seed: 7n,
      presencePenalty: 1,
      frequencyPenalty: -1,
      repetitionPenalty: 1.1,
      topLogprobs: null,
    });
    expect([maxTokens, [...stopTokens]]).toEqual([9, [2, 5]]);
  });
});

describe('completions', () => {
  test('the last chunk carries finish_reason and usage', async () => {
    const chunks = await events(await post('/openai/v1/completions', { prompt: 'x', stream: true }));
    expect(chunks[0]).toEqual({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [
        {
          index: 0,
          text: 'Hi',
          logprobs: null,
          finish_reason: null,
          stop_reason: null,
          prompt_token_ids: null,
          token_ids: null,
        },
      ],
      usage: null,
      system_fingerprint: expect.any(String),
    });
    expect(chunks.at(-2)).toMatchObject({
      choices: [{ text: '', finish_reason: 'stop' }],
      usage: { completion_tokens: 7 },
    });
    expect(chunks.at(-1)).toBe(done);
  });

  test('a list of prompts gives one choice each, streamed and not', async () => {
    script = function* ({ prompt }) {
      yield output([prompt.at(-1)!], 'length');
    };
    const prompts = [byte('a'), byte('b'), byte('c')];
    const body = await json(await post('/v1/completions', { prompt: prompts }));
    expect(body.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
    const chunks = (await events(await post('/v1/completions', { prompt: prompts, stream: true }))).slice(
      0,
      -1,
    );
    expect(chunks.map((chunk) => chunk.choices[0]!.text).sort()).toEqual(['a', 'b', 'c']);
    expect(chunks.filter((chunk) => chunk.usage !== null)).toEqual([chunks.at(-1)]);
  });

  test('tells the engine where the prompt’s messages end', async () => {
    await post('/v1/completions', { prompt: [5, 2, 6, 7, 2, 8] });
    expect(server.engine.requests[0]!.boundaries).toEqual([2, 5]);
  });

  test('asks for 16 tokens unless told otherwise', async () => {
    await post('/v1/completions', { prompt: 'x' });
    expect(server.engine.requests[0]!.maxTokens).toBe(16);
  });
});

describe(':predict', () => {
  test('answers a prompt through the template, without thinking', async () => {
    const response = await post('/v1/models/tiny:predict', { prompt: 'x' });
    expect(await response.json()).toEqual({
      model_name: 'tiny',
      response: 'Hi é!',
      prompt_tokens: 7,
      completion_tokens: 7,
    });
    expect(server.tokenizer.decode(server.engine.requests[0]!.prompt, { skipSpecialTokens: false })).toBe(
      'user:x!',
    );
  });

  test('answers instances as predictions', async () => {
    const instances = [{ prompt: 'x' }, 'y', { messages: [{ role: 'user', content: 'z' }] }];
    const body = await json(await post('/v1/models/small:predict', { instances }));
    expect(body.predictions.map((each) => each.response)).toEqual(['Hi é!', 'Hi é!', 'Hi é!']);
    expect(body.predictions[0]!.model_name).toBe('small');
  });
});

describe('refusals', () => {
  test.each([
    ['a body that is not JSON', '/v1/chat/completions', '{', 400, 'invalid_request', null, 'not JSON'],
    ['no messages', '/v1/chat/completions', {}, 400, 'invalid_request', 'messages', 'messages is required'],
    [
      'an unknown field',
      '/v1/completions',
      { prompt: 'x', surprise: 1 },
      400,
      'invalid_request',
      'surprise',
      'surprise is not a known field',
    ],
    [
      'a field that is not honoured',
      '/v1/completions',
      { prompt: 'x', n: 2 },
      400,
      'invalid_request',
      'n',
      'n is not supported',
    ],
    [
      'another model',
      '/v1/completions',
      { prompt: 'x', model: 'gpt' },
      404,
      'model_not_found',
      'model',
      'served: tiny, small',
    ],
    [
      'a prompt beyond the context',
      '/v1/completions',
      { prompt: 'x'.repeat(64) },
      400,
      'context_length_exceeded',
      'prompt',
      '65 tokens, but the context is 64',
    ],
    [
      'too many tokens asked for',
      '/v1/completions',
      { prompt: 'x', max_tokens: 63 },
      400,
      'context_length_exceeded',
      'max_tokens',
      'asks for 63 more',
    ],
    [
      'an id outside the vocabulary',
      '/v1/completions',
      { prompt: [300] },
      400,
      'invalid_request',
      'prompt',
      'ends at 299',
    ],
    [
      'a large body',
      '/v1/completions',
      { prompt: 'x'.repeat(100_000) },
      413,
      'request_too_large',
      null,
      'limit is 100000',
    ],
    ['an unknown route', '/v1/surprise', {}, 404, 'route_not_found', null, 'no POST /v1/surprise'],
  ])('%s', async (_, path, body, status, code, param, message) => {
    const response = await post(path, body);
    expect(response.status).toBe(status);
    const { error } = await json(response);
    expect(error).toMatchObject({
      code,
      param,
      message: expect.stringContaining(message),
      type: expect.any(String),
    });
  });

  test('every violation is told at once', async () => {
    const response = await post('/v1/chat/completions', {
      messages: [],
      temperature: 9,
      tools: [{}],
      seed: 'x',
    });
    const { error } = await json(response);
    for (const field of ['messages', 'temperature', 'tools', 'seed']) expect(error.message).toContain(field);
  });

  test('a full queue is 429 with Retry-After', async () => {
    script = endless;
    const busy = Array.from({ length: 8 }, () => chat({ stream: true }));
    const streams = await Promise.all(busy);
    const refused = await chat({});
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await Promise.all(streams.map((stream) => stream.body!.cancel()));
  });

  test('before the model is loaded every generation is 503 with Retry-After', async () => {
    const pulling = await scriptedServer(script, { serving: false });
    pulling.parts.lifecycle.reportProgress(() => ({
      phase: 'pull',
      bytesDone: 25,
      bytesTotal: 100,
      bytesPerSecond: 25,
      etaSeconds: 3,
      pulled: { bytesDone: 25, bytesTotal: 100 },
      loaded: null,
    }));
    const response = await fetch(`${pulling.url}/v1/completions`, { method: 'POST', body: '{"prompt":"x"}' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
    expect(await response.text()).toContain('pull at 25 % (25 of 100 bytes, about 3 s left)');
    await pulling.http.close();
  });
});

describe('a generation that breaks', () => {
  const fault = new FailureError('EngineFault', 'the engine process was lost');

  test('before the first byte is an HTTP error with the remedy', async () => {
    // eslint-disable-next-line require-yield
    script = async function* () {
      await sleep(1);
      throw fault;
    };
    const response = await chat({ stream: true });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({
      error: { code: 'EngineFault', message: expect.stringContaining('Send the request again') },
    });
  });

  test('after the first byte is an error event, and the stream ends without [DONE]', async () => {
    script = function* () {
      yield output(byte('a'));
      throw fault;
    };
    const chunks = await events(await chat({ stream: true }));
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'EngineFault' } });
  });

  test('a client that goes away frees its generation', async () => {
    script = endless;
    const response = await chat({ stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    expect(server.engine.open).toBe(1);
    await reader.cancel();
    await sleep(100);
    expect([server.engine.open, server.parts.admission.inFlight]).toEqual([0, 0]);
  });
});

describe('drain', () => {
  test('running generations finish; new ones are refused', async () => {
    script = async function* () {
      yield output(byte('a'));
      await sleep(200);
      yield output(byte('b'), 'length');
    };
    const running = await chat({ stream: true });
    const drained = server.http.drain(5_000);
    expect((await fetch(`${server.url}/healthz/ready`)).status).toBe(503);
    expect((await chat({})).status).toBe(503);
    expect((await events(running)).at(-1)).toBe(done);
    await drained;
  });

  test('what does not finish in time ends with an error event', async () => {
    script = endless;
    const running = await chat({ stream: true });
    await server.http.drain(50);
    expect((await events(running)).at(-1)).toMatchObject({ error: { code: 'draining' } });
    expect(server.engine.open).toBe(0);
  });
});

test('models are told in both protocols’ form', async () => {
  const list = await json(await fetch(`${server.url}/openai/v1/models`));
  expect(list).toMatchObject({
    object: 'list',
    models: ['tiny', 'small'],
    data: [{ id: 'tiny', max_model_len: 64 }, { id: 'small' }],
  });
  const one = await fetch(`${server.url}/v1/models/tiny`);
  expect(await one.json()).toMatchObject({ name: 'tiny', ready: true, object: 'model' });
  expect((await fetch(`${server.url}/v1/models/other`)).status).toBe(404);
});

test('health, metrics and version', async () => {
  await chat({});
  const health = await json(await fetch(`${server.url}/health`));
  expect(health).toMatchObject({
    state: 'serving',
    model: 'tiny',
    load: null,
    failure: null,
    engine: { numBlocks: 8, restarts: 0 },
  });
  expect((await fetch(`${server.url}/healthz/live`)).status).toBe(200);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('vllm:generation_tokens_total{model_name="tiny",engine="0"} 7');
  expect(metrics).toContain('vllm:prompt_tokens_total{model_name="tiny",engine="0"} 6');
  expect(metrics).toContain(
    'vllm:request_success_total{model_name="tiny",engine="0",finished_reason="stop"} 1',
  );
  expect(metrics).toContain('vllm:num_requests_running{model_name="tiny",engine="0"} 0');
  // However often it is scraped.
  expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(
    'llmservice_numerical_faults_total{model_name="tiny",engine="0",kind="notFinite"} 2',
  );
  expect(await (await fetch(`${server.url}/version`)).json()).toMatchObject({ version: expect.any(String) });
});
