// What a server reports of itself: models, health, metrics and version.

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RequestObserver } from '../../observe/ended-request.js';
import { ApiError } from '../../request/body/api-error.js';
import { json } from '../answers.fixture.js';
import { endless } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

test('models are listed in both protocols’ form', async () => {
  const list = await json(await server.get('/openai/v1/models'));
  expect(list).toMatchObject({
    object: 'list',
    models: ['tiny', 'small'],
    data: [{ id: 'tiny', max_model_len: 64 }, { id: 'small' }],
  });
  const one = await server.get('/v1/models/tiny');
  expect(await one.json()).toMatchObject({ name: 'tiny', ready: true, object: 'model' });
  expect((await server.get('/v1/models/other')).status).toBe(404);
});

test('the names of a service that is stood in for are understood where the route says them, and answered by our own', async () => {
  const body = { model: 'big', messages: [{ role: 'user', content: 'x' }] };
  const route = { 'x-llmservice-fallback-for': 'big,large/one' };
  expect((await server.post('/v1/chat/completions', body)).status).toBe(404);
  expect((await server.post('/v1/chat/completions', { ...body, model: 'bigger' }, route)).status).toBe(404);
  const answered = await server.post('/v1/chat/completions', body, route);
  expect(await json(answered)).toMatchObject({ model: 'tiny' });
  expect((await server.get('/v1/models/big', route)).status).toBe(200);
  const predicted = await server.post('/v1/models/big:predict', { prompt: 'x' }, route);
  expect(await json(predicted)).toMatchObject({ model_name: 'tiny' });
});

test('the stream check sends events at the pace that they name, as an answer is streamed', async () => {
  const answer = await server.post('/v1/stream-check', {});
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(answer.headers.get('x-accel-buffering')).toBe('no');
  const events = (await answer.text()).trim().split('\n\n');
  const sent = events.map(
    (event) => (JSON.parse(event.slice('data: '.length)) as { sent_ms: number }).sent_ms,
  );
  expect(sent).toHaveLength(5);
  sent.slice(1).forEach((at, index) => expect(at - (sent[index] ?? 0)).toBeGreaterThanOrEqual(199));
  const metrics = await (await server.get('/metrics')).text();
  expect(metrics).not.toMatch(/^vllm:request_success_total\{.*\} [1-9]/m);
});

test('a stream check names the service to who names it, and to nobody else', async () => {
  const mine = await ScriptedServer.start({ service: 'team-b/chat' });
  const isOurs = async (headers: Record<string, string>): Promise<boolean> => {
    const answer = await mine.post('/v1/stream-check', {}, headers);
    return (await answer.text()).includes('team-b');
  };
  expect(await isOurs({ 'x-llmservice-service': 'team-b/chat' })).toBe(true);
  expect(await isOurs({ 'x-llmservice-service': 'team-a/chat' })).toBe(false);
  expect(await isOurs({})).toBe(false);
  await mine.stop();
});

test('health, metrics and version', async () => {
  await server.chat({});
  const health = await json(await server.get('/health'));
  expect(health).toMatchObject({
    state: 'serving',
    model: 'tiny',
    load: null,
    failure: null,
    engine: { numBlocks: 8, plannedBlocks: 7, restarts: 0 },
  });
  expect((await server.get('/healthz/live')).status).toBe(200);
  const metrics = await (await server.get('/metrics')).text();
  expect(metrics).toContain('vllm:generation_tokens_total{model_name="tiny",engine="0"} 7');
  expect(metrics).toContain('vllm:prompt_tokens_total{model_name="tiny",engine="0"} 6');
  expect(metrics).toContain(
    'vllm:request_success_total{model_name="tiny",engine="0",finished_reason="stop"} 1',
  );
  expect(metrics).toContain('vllm:num_requests_running{model_name="tiny",engine="0"} 0');
  // However often it is scraped.
  expect(await (await server.get('/metrics')).text()).toContain(
    'llmservice_numerical_faults_total{model_name="tiny",engine="0",kind="notFinite"} 2',
  );
  expect(metrics).toContain(
    'llmservice_engine_device_info{model_name="tiny",engine="0",name="AMD Instinct MI300X",' +
      'architecture="gfx942",partition="cpx_nps4",compute_units="38",xcds="1",memory_bytes="25769803776"} 1',
  );
  expect(await (await server.get('/version')).json()).toMatchObject({
    version: expect.any(String),
    engine: {
      architecture: 'llama',
      numBlocks: 8,
      device: { name: 'AMD Instinct MI300X', partition: 'cpx_nps4' },
      collectives: 'NCCL 2.27.7',
      selfCheckMs: 40,
    },
  });
});

test('KServe’s clients read that it lives and is ready', async () => {
  const bodyOf = async (path: string) => (await server.get(path)).json();
  expect(await bodyOf('/v2/health/live')).toEqual({ live: true });
  expect(await bodyOf('/v2/health/ready')).toMatchObject({ ready: true, state: 'serving' });
  expect(await bodyOf('/')).toMatchObject({ status: 'alive' });
  expect(await bodyOf('/v2')).toEqual({
    name: 'llmservice',
    version: expect.any(String),
    extensions: ['binary_tensor_data'],
  });
  expect(await bodyOf('/v2/models/small')).toMatchObject({
    name: 'small',
    platform: 'llmservice',
    inputs: [{ name: 'text_input', datatype: 'BYTES', shape: [-1] }],
    outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [-1] }],
  });
  expect(await bodyOf('/v2/models/tiny/ready')).toEqual({ name: 'tiny', ready: true });
  const unserved = await ScriptedServer.start({ serving: false });
  expect((await unserved.get('/v2/models/tiny/ready')).status).toBe(503);
  expect((await unserved.get('/v2/models/tiny')).status).toBe(200);
  await unserved.stop();
  for (const path of ['/v2/models/other', '/v2/models/other/ready'])
    expect((await server.get(path)).status).toBe(404);
});

test('models are listed as Anthropic’s client reads them', async () => {
  const client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
  const seen: string[] = [];
  for await (const model of client.models.list()) {
    seen.push(model.display_name);
    expect(model).toMatchObject({ type: 'model', max_input_tokens: 64, max_tokens: 64 });
    expect(new Date(model.created_at).toISOString()).toBe(model.created_at);
  }
  expect(seen).toEqual(['tiny', 'small']);
  expect((await client.models.retrieve('small')).display_name).toBe('small');
});

test('the load is how many requests are in progress', async () => {
  const load = async (): Promise<unknown> => (await server.get('/load')).json();
  expect(await load()).toEqual({ server_load: 0 });
  server.script = endless;
  const leave = new AbortController();
  const asked = fetch(`${server.url}/v1/completions`, {
    method: 'POST',
    body: JSON.stringify({ prompt: 'x', max_tokens: 40 }),
    signal: leave.signal,
  });
  while (server.parts.running.size === 0) await new Promise(setImmediate);
  expect(await load()).toEqual({ server_load: 1 });
  leave.abort();
  await expect(asked).rejects.toThrow();
});

test.each(['/v1/models/tiny:predict', '/generate'])(
  '%s is not streamed, and may be asked not to be',
  async (path) => {
    expect((await server.post(path, { prompt: 'x', stream: false })).status).toBe(200);
  },
);

test('of a :predict with several instances nothing is billed where one is refused', async () => {
  const long = 'x'.repeat(200);
  const answer = await server.post('/v1/models/tiny:predict', { instances: [long, 'a', 'b', 'c'] });
  expect(answer.status).toBe(400);
  while (server.ended.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(server.engine.requests).toEqual([]);
  expect(server.ended).toHaveLength(1);
  expect(server.ended[0]).toMatchObject({ errorCode: 'context_length_exceeded', generations: [] });
  const metrics = await (await server.get('/metrics')).text();
  expect(metrics).not.toMatch(/^vllm:request_success_total\{.*\} [1-9]/m);
});

test('a body that is not what its encoding says is the client’s mistake', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/v1/completions`, { method: 'POST', headers, body: '{}' });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } });
});

test('a body with more names than anybody means is refused before it is read', async () => {
  const large = await ScriptedServer.start({ maxBodyBytes: 2 ** 20 });
  const post = (content: string, charset: string): Promise<Response> =>
    fetch(`${large.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': `application/json; charset=${charset}` },
      body: Buffer.from(content, charset === 'utf-8' ? 'utf8' : 'utf16le'),
    });
  const names = `{"prompt":"x","logit_bias":{${'"a":1,'.repeat(100_000)}"b":1}}`;
  expect(await (await post(names, 'utf-8')).json()).toMatchObject({
    error: { code: 'invalid_request', message: 'the body has more than 50000 members in its objects' },
  });
  expect(await (await post('{"prompt":"x"}', 'utf-16le')).json()).toMatchObject({
    error: { code: 'invalid_request', message: 'a body in utf-16le is not read; send it in UTF-8' },
  });
  expect((await post('{"prompt":"x"}', 'utf-8')).status).toBe(200);
  await large.stop();
});

test('what was cancelled by an administrator is not tried again by clients', async () => {
  server.script = endless;
  const asked = server.post('/v1/completions', { prompt: 'x', max_tokens: 40 });
  while (server.parts.running.size === 0) await new Promise(setImmediate);
  for (const { controller } of server.parts.running)
    controller.abort(ApiError.of('request_cancelled', 'an administrator ended the request'));
  const answer = await asked;
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false']);
});

test('a request that cannot be logged ends no other', async () => {
  const observers = server.parts.observers as RequestObserver[];
  observers.unshift(() => {
    throw new RangeError('nested too deep');
  });
  server.parts.logger.transports[0]!.silent = true;
  for (let i = 0; i < 2; i++) {
    expect((await server.post('/v1/completions', { prompt: 'x' })).status).toBe(200);
  }
  while (server.ended.length < 2) await new Promise(setImmediate);
});
