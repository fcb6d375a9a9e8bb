// Requests that are refused before anything is generated, each by its own status and code.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { json } from '../answers.fixture.js';
import { endless } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.stop());

test.each([
  ['a body that is not JSON', '/v1/chat/completions', '{', 400, 'invalid_request', null, 'not JSON'],
  [
    'a body that is nested too deep',
    '/v1/chat/completions',
    `{"messages":[],"metadata":${'{"a":'.repeat(128)}1${'}'.repeat(128)}}`,
    400,
    'invalid_request',
    null,
    'deeper than 128 levels',
  ],
  [
    'more texts than embeddings take',
    '/v1/embeddings',
    { input: Array.from({ length: 2049 }, () => 'x') },
    400,
    'invalid_request',
    'input',
    'at most 2048 entries',
  ],
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
    { prompt: 'x', suffix: 'y' },
    400,
    'invalid_request',
    'suffix',
    'suffix is not supported',
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
    'too many tokens asked for by their other name',
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'x' }], max_completion_tokens: 63 },
    400,
    'context_length_exceeded',
    'max_completion_tokens',
    'max_completion_tokens asks for 63 more',
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
    'an end token outside the vocabulary',
    '/v1/completions',
    { prompt: 'x', stop_token_ids: [2, 300] },
    400,
    'invalid_request',
    'stop_token_ids',
    'stop_token_ids has the token id 300',
  ],
  ...['image_url', 'input_audio', 'video_url', 'file'].map(
    (type): [string, string, object, number, string, string, string] => [
      `${type} in a chat`,
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type }] }] },
      400,
      'invalid_request',
      'messages.0.content.1',
      'and the model reads text only',
    ],
  ),
  [
    'one of several prompts, which is empty',
    '/v1/completions',
    { prompt: ['a', '', 'b'], add_special_tokens: false },
    400,
    'invalid_request',
    'prompt.1',
    'prompt.1 has no tokens',
  ],
  [
    'one of several prompts, beyond the context',
    '/v1/completions',
    { prompt: ['a', 'x'.repeat(64)] },
    400,
    'context_length_exceeded',
    'prompt.1',
    'prompt.1 has 65 tokens, but the context is 64',
  ],
  [
    'one of several prompts, with an id outside the vocabulary',
    '/v1/completions',
    { prompt: [[1], [300]] },
    400,
    'invalid_request',
    'prompt.1',
    'prompt.1 has the token id 300',
  ],
  [
    'a prompt of :predict beyond the context',
    '/v1/models/tiny:predict',
    { prompt: 'x'.repeat(64) },
    400,
    'context_length_exceeded',
    'prompt',
    'the prompt has 70 tokens',
  ],
  [
    'a stream of :predict',
    '/v1/models/tiny:predict',
    { prompt: 'x', stream: true },
    400,
    'invalid_request',
    'stream',
    'stream is not supported with this value',
  ],
  [
    'a field of one of several instances',
    '/v1/models/tiny:predict',
    { instances: ['a', { prompt: 'b', temperature: 5 }] },
    400,
    'invalid_request',
    'instances.1.temperature',
    'instances.1: temperature must be <= 2',
  ],
  [
    'one of several instances, beyond the context',
    '/v1/models/tiny:predict',
    { instances: ['a', 'x'.repeat(64)] },
    400,
    'context_length_exceeded',
    'instances.1.prompt',
    'instances.1: the prompt has 70 tokens',
  ],
  ...[5, null, ['b']].map((instance): [string, string, object, number, string, string, string] => [
    `an instance that is ${JSON.stringify(instance)}`,
    '/v1/models/tiny:predict',
    { instances: ['a', instance] },
    400,
    'invalid_request',
    'instances.1',
    'instances.1 must be a text or an object with prompt or messages',
  ]),
  [
    'a large body',
    '/v1/completions',
    { prompt: 'x'.repeat(100_000) },
    413,
    'request_too_large',
    null,
    'limit is 100000',
  ],
  [
    'an unknown route',
    '/v1/chat/completion',
    {},
    404,
    'route_not_found',
    null,
    'no POST /v1/chat/completion here; nearest are POST /v1/chat/completions, POST /v1/completions',
  ],
  ...Object.entries({
    '/v1/files': 'no batches run',
    '/v1/batches/batch_1/cancel': 'no batches run',
    '/v1/chat/completions/batch': 'send each conversation by itself',
    '/inference/v1/generate': 'takes token ids as prompt',
    '/pooling': 'POST /classify the probabilities',
    '/abort_requests': '/v1/responses/{id}/cancel',
  }).map(([path, why]) => [path, path, {}, 404, 'route_not_found', null, why] as const),
  ['a path that is no text', '/v1/models/%ff:predict', {}, 400, 'invalid_request', null, 'cannot be read'],
])('%s', async (_, path, body, status, code, param, message) => {
  const response = await server.post(path, body);
  expect(response.status).toBe(status);
  const { error } = await json(response);
  expect(error).toMatchObject({
    code,
    param,
    message: expect.stringContaining(message),
    type: expect.any(String),
  });
});

test.each([
  ['GET', '/openai/v1/chat/completions', 'POST'],
  ['DELETE', '/v1/models/tiny', 'GET, HEAD'],
  ['DELETE', '/v1/models/tiny:predict', 'POST'],
  ['POST', '/', 'GET, HEAD'],
])('%s %s is 405 with the methods that there are', async (method, path, allow) => {
  const response = await fetch(server.url + path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  expect((await json(response)).error).toMatchObject({ code: 'method_not_allowed' });
  const options = await fetch(server.url + path, { method: 'OPTIONS' });
  expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
});

test('every violation is reported at once', async () => {
  const response = await server.post('/v1/chat/completions', {
    messages: [],
    temperature: 9,
    tools: [{}],
    seed: 'x',
  });
  const { error } = await json(response);
  for (const field of ['messages', 'temperature', 'tools', 'seed']) expect(error.message).toContain(field);
});

test('a full queue is 503 with Retry-After', async () => {
  server.script = endless;
  const busy = Array.from({ length: 8 }, () => server.chat({ stream: true }));
  const streams = await Promise.all(busy);
  const refused = await server.chat({});
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await Promise.all(streams.map((stream) => stream.body!.cancel()));
});

test('before the model is loaded every generation is 503 with Retry-After', async () => {
  const pulling = await ScriptedServer.start({ serving: false });
  pulling.parts.lifecycle.reportProgress(() => ({
    phase: 'pull',
    bytesDone: 25,
    bytesTotal: 100,
    bytesPerSecond: 25,
    etaSeconds: 3,
    warmup: null,
    pulled: { bytesDone: 25, bytesTotal: 100 },
    loaded: null,
  }));
  const response = await pulling.post('/v1/completions', { prompt: 'x' });
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
  expect(await response.text()).toContain('pull at 25 % (25 of 100 bytes, about 3 s left)');
  await pulling.stop();
});
