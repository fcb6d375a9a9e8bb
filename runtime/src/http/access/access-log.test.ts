// The line that the log gets of each request that was let in to generate, or refused.

import { afterEach, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeySet } from '@llmservice/crds/keys';
import type { Logger } from '../../log/logger.js';
import { configuredKey } from '../../../../crds/src/keys/configured-key.fixture.js';
import { accessLog } from '../../observe/access-line.js';
import { byteIds, endless, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
afterEach(() => server.stop());
const start = async (keys: KeySet | null = null): Promise<void> => {
  server = await ScriptedServer.start({ access: { keys } });
};

interface Line {
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The lines of all requests, once there are so many. */
async function lines(count = 1): Promise<Line[]> {
  for (let i = 0; i < 2_500 && server.ended.length < count; i++) await sleep(10);
  // One that is logged twice would come with it.
  await sleep(20);
  const written: Line[] = [];
  const logger = { info: (message: string, fields: object) => written.push({ ...fields, message }) };
  server.ended.forEach(accessLog(logger as unknown as Logger));
  expect(written).toHaveLength(count);
  return written;
}

const times = { queueMs: 1, prefillMs: expect.any(Number), decodeMs: expect.any(Number) };

test('a generation: who asked for what, how long its parts took, and how it ended', async () => {
  await start(new KeySet([configuredKey('team')]));
  server.script = async function* () {
    yield output(byteIds('a'));
    await sleep(30);
    yield { ...output(byteIds('bc')), acceptedDrafts: 1 };
    yield { ...output([]), finish: 'stop', stopToken: 2 };
  };
  const headers = { authorization: 'Bearer secret-team' };
  const response = await server.post(
    '/openai/v1/completions',
    { prompt: 'secret words', stream: true },
    headers,
  );
  await response.text();
  const [line] = await lines();
  expect(line).toEqual({
    message: 'request finished',
    id: response.headers.get('x-request-id'),
    clientRequestId: null,
    route: '/openai/v1/completions',
    model: 'tiny',
    key: 'team',
    status: 200,
    errorCode: null,
    stream: true,
    finishReasons: ['stop'],
    promptTokens: 10,
    cachedTokens: 3,
    completionTokens: 4,
    reasoningTokens: 0,
    acceptedDraftTokens: 1,
    ...times,
    totalMs: expect.any(Number),
    tokensPerSecond: expect.any(Number),
  });
  expect(line!['decodeMs']).toBeGreaterThanOrEqual(29);
  expect(line!['totalMs']).toBeGreaterThanOrEqual(line!['decodeMs'] as number);
  // Three tokens after the first.
  expect(line!['tokensPerSecond']).toBeCloseTo(3000 / (line!['decodeMs'] as number), 0);
  expect(JSON.stringify(line)).not.toMatch(/secret/);
});

test('several answers are one line, and their prompt counts once', async () => {
  await start();
  await server.post('/v1/completions', { prompt: 'x', n: 3 });
  expect((await lines())[0]).toMatchObject({
    finishReasons: ['stop', 'stop', 'stop'],
    promptTokens: 2,
    cachedTokens: 1,
    completionTokens: 21,
  });
});

test('generations are logged in the order of their prompts, whichever ends first', async () => {
  await start();
  server.script = async function* ({ prompt }) {
    const isFirst = prompt.length === 2;
    if (isFirst) await sleep(20);
    yield output(byteIds('a'), isFirst ? 'length' : 'stop');
  };
  await server.post('/v1/completions', { prompt: ['x', 'longer'] });
  expect((await lines())[0]).toMatchObject({ finishReasons: ['length', 'stop'] });
});

test.each<[string, string, object, object]>([
  ['a chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }, { completionTokens: 7 }],
  ['a prediction', '/v1/models/tiny:predict', { prompt: 'x' }, { route: '/v1/models/{name}:predict' }],
  ['a generation without a template', '/generate', { prompt: 'x' }, { finishReasons: ['stop'] }],
  ['a warm-up', '/warmup', {}, { model: 'tiny' }],
])('%s has its line', async (_, path, body, logged) => {
  await start();
  expect((await server.post(path, body)).status).toBe(200);
  expect((await lines())[0]).toMatchObject({
    message: 'request finished',
    route: path,
    status: 200,
    ...logged,
  });
});

test('embeddings have theirs, with no decoding', async () => {
  await start();
  server.script = function* () {
    yield { ...output([]), embedding: new Float32Array([3, 4]), finish: 'stop' };
  };
  await server.post('/v1/embeddings', { input: ['x', 'y'] });
  const logged = { promptTokens: 4, completionTokens: 0, queueMs: 1, decodeMs: null, tokensPerSecond: null };
  expect((await lines())[0]).toMatchObject({ finishReasons: ['stop', 'stop'], ...logged });
});

test('a client that goes away', async () => {
  await start();
  server.script = endless;
  const controller = new AbortController();
  const body = JSON.stringify({ prompt: 'x', stream: true });
  const init = { method: 'POST', body, signal: controller.signal };
  const response = await fetch(`${server.url}/v1/completions`, init);
  await response.body!.getReader().read();
  controller.abort();
  expect((await lines())[0]).toMatchObject({ status: 200, finishReasons: ['abort'], errorCode: null });
});

test.each<[string, boolean, object]>([
  ['before the first byte', false, { status: 500, errorCode: 'internal_error' }],
  ['in mid-stream', true, { status: 200, errorCode: 'internal_error' }],
])('an engine that fails %s', async (_, streams, logged) => {
  await start();
  server.parts.logger.transports[0]!.silent = true;
  server.script = function* () {
    if (streams) yield output(byteIds('a'));
    throw new Error('the inside');
  };
  await (await server.post('/v1/completions', { prompt: 'x', stream: streams })).text();
  expect((await lines())[0]).toMatchObject({
    message: 'request finished',
    finishReasons: ['error'],
    ...logged,
  });
});

test.each<[string, string, string | object, object]>([
  ['what is no JSON', '/v1/completions', '{', { status: 400, errorCode: 'invalid_request' }],
  [
    'another model',
    '/v1/completions',
    { prompt: 'x', model: 'gpt' },
    { status: 404, errorCode: 'model_not_found' },
  ],
  ['no route', '/v1/surprise', {}, { status: 404, errorCode: 'route_not_found', route: null }],
  [
    'a body that is too large',
    '/generate',
    'x'.repeat(100_001),
    { status: 413, errorCode: 'request_too_large' },
  ],
])('%s is logged as refused', async (_, path, body, logged) => {
  await start();
  await server.post(path, body);
  const totalMs = expect.any(Number);
  const none = { id: null, clientRequestId: null, model: null, key: null };
  const refused = { message: 'request refused', ...none, route: path, totalMs };
  expect(await lines()).toEqual([{ ...refused, ...logged }]);
});

test.each<[string, object, object]>([
  ['/tokenize', {}, { status: 400, errorCode: 'invalid_request' }],
  ['/tokenize', { prompt: 'x' }, { status: 200, errorCode: null }],
  ['/detokenize', { tokens: [259] }, { status: 200, errorCode: null }],
  ['/apply-template', { messages: [] }, { status: 400, errorCode: 'invalid_request' }],
  [
    '/v1/messages/count_tokens',
    { model: 'tiny', messages: [{ role: 'user', content: 'x' }] },
    { status: 200, errorCode: null },
  ],
])('a text of %s is logged, %j', async (path, body, logged) => {
  await start();
  const response = await server.post(path, body);
  const id = response.headers.get('x-request-id');
  const line = { message: 'request finished', id, route: path, model: 'tiny', finishReasons: [] };
  expect((await lines())[0]).toMatchObject({ ...line, ...logged });
});

test('a request without its key is logged with its route', async () => {
  await start(new KeySet([configuredKey('team')]));
  await server.post('/v1/models/tiny:predict', { prompt: 'x' });
  const logged = { route: '/v1/models/{name}:predict', status: 401, errorCode: 'invalid_api_key', key: null };
  expect((await lines())[0]).toMatchObject({ message: 'request refused', ...logged });
});

test('a prompt that is too long was let in, and is logged once', async () => {
  await start();
  await server.post('/v1/completions', { prompt: 'x'.repeat(100) });
  const logged = { status: 400, errorCode: 'context_length_exceeded', finishReasons: [], queueMs: null };
  expect((await lines())[0]).toMatchObject(logged);
});

test.each(['/health', '/metrics', '/v1/models', '/'])('%s is not logged', async (path) => {
  await start();
  expect((await server.get(path)).status).toBe(200);
  expect(await lines(0)).toEqual([]);
});
