// What is accounted of each request: what was reported to its client, also where the client leaves or the engine fails.

import { afterEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { byteIds, endless, output } from '../scripted-engine.fixture.js';
import type { ScriptedServer } from '../scripted-server.fixture.js';
import type { Access } from './access.js';
import { bearer, body, metric, startKeyedServer, type KeyedServer } from './keyed-server.fixture.js';

let server: ScriptedServer;
let ledger: KeyedServer['ledger'];
const start = async (access?: Partial<Access>): Promise<void> => {
  ({ server, ledger } = await startKeyedServer(access));
};
afterEach(() => server.stop());

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
    const [record] = await ledger.accounted(1);
    expect(record).toEqual({
      time: new Date(ledger.now).toISOString(),
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
    expect(await metric(server, 'llmservice_key_prompt_tokens_total{model_name="tiny",key="free"}')).toBe(
      usage.prompt_tokens,
    );
    expect(await metric(server, 'llmservice_key_completion_tokens_total{model_name="tiny",key="free"}')).toBe(
      usage.completion_tokens,
    );
    expect(await metric(server, 'llmservice_key_requests_total{model_name="tiny",key="free"}')).toBe(1);
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
    const [first, second] = await ledger.accounted(2);
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
    const [record] = await ledger.accounted(1);
    expect(record).toMatchObject({ promptTokens: 10, finish: ['abort'] });
    expect(record!.completionTokens).toBeGreaterThanOrEqual(4);
    expect(await metric(server, 'vllm:generation_tokens_total{model_name="tiny",engine="0"}')).toBe(
      record!.completionTokens,
    );
    expect(await metric(server, 'llmservice_key_completion_tokens_total{model_name="tiny",key="free"}')).toBe(
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
    expect(await ledger.accounted(1)).toMatchObject([{ completionTokens: 3, finish: ['error'] }]);
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
    expect(ledger.records).toMatchObject([{ finish: ['error'] }]);
    socket.destroy();
  });

  test('are kept without keys as well', async () => {
    await start({ keys: null });
    await server.post('/v1/completions', body);
    expect(await ledger.accounted(1)).toMatchObject([{ key: null, promptTokens: 10 }]);
  });
});
