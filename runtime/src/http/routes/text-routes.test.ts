// Tokenize, detokenize and apply-template; generate and warmup.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { byteIds, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ maxBodyBytes: 1_000_000 });
});
afterEach(() => server.stop());

async function ask(path: string, body: unknown): Promise<{ status: number; answer: unknown }> {
  const response = await server.post(path, body);
  return { status: response.status, answer: await response.json() };
}

const messages = [{ role: 'user', content: 'é' }];
const bos = 265;

describe('tokenize', () => {
  test.each<[string, object, number[]]>([
    ['a text, with what the tokenizer adds', { prompt: 'hello' }, [bos, 259]],
    ['a text alone', { prompt: 'hello', add_special_tokens: false }, [259]],
    ['no text', { prompt: '', add_special_tokens: false }, []],
    ['a conversation as the template writes it', { messages, model: 'small' }, byteIds('user:é')],
    [
      'a conversation and what the tokenizer adds',
      { messages, add_special_tokens: true },
      [bos, ...byteIds('user:é')],
    ],
    ['variables of the template', { messages, enable_thinking: false }, byteIds('user:é!')],
  ])('gives the ids of %s', async (_, body, tokens) => {
    const { status, answer } = await ask('/tokenize', body);
    expect(status).toBe(200);
    expect(answer).toEqual({ count: tokens.length, max_model_len: 64, tokens, token_strs: null });
  });

  test('gives each token as the vocabulary spells it', async () => {
    const { answer } = await ask('/tokenize', { prompt: 'hello é', return_token_strs: true });
    expect(answer).toMatchObject({ token_strs: ['<|bos|>', 'hello', 'Ġ', 'Ã', '©'] });
  });

  test('gives the tokens of a prompt that is longer than the context', async () => {
    expect((await ask('/tokenize', { prompt: 'x'.repeat(500) })).answer).toMatchObject({ count: 501 });
  });

  test('gives no more tokens than the event loop may have in hand', async () => {
    const { status, answer } = await ask('/tokenize', { prompt: 'x'.repeat(300_000) });
    expect(status).toBe(400);
    expect(answer).toMatchObject({ error: { message: expect.stringContaining('this route takes 262144') } });
  });
});

test('what is tokenized is detokenized to the same text, special tokens included', async () => {
  const { answer } = await ask('/tokenize', { prompt: 'hello world é 漢' });
  const { tokens } = answer as { tokens: number[] };
  expect(await ask('/detokenize', { tokens })).toEqual({
    status: 200,
    answer: { prompt: '<|bos|>hello world é 漢' },
  });
  expect((await ask('/detokenize', { tokens: [] })).answer).toEqual({ prompt: '' });
});

test('a conversation is shown as the template writes it, and nothing is generated', async () => {
  expect((await ask('/apply-template', { messages })).answer).toEqual({ prompt: 'user:é' });
  expect((await ask('/apply-template', { messages, reasoning: false })).answer).toEqual({
    prompt: 'user:é!',
  });
  expect(server.engine.requests).toEqual([]);
});

test.each(['/tokenize', '/apply-template', '/v1/messages/count_tokens'])(
  '%s refuses tools that the chat template would leave out',
  async (path) => {
    const tools = path.startsWith('/v1')
      ? [{ name: 'weather', input_schema: { type: 'object' } }]
      : [{ type: 'function', function: { name: 'weather' } }];
    const { status, answer } = await ask(path, { messages, tools });
    expect(status).toBe(400);
    expect(answer).toMatchObject({ error: { code: 'tools_not_supported', param: 'tools' } });
  },
);

describe('of a model that calls tools', () => {
  beforeEach(async () => {
    await server.stop();
    server = await ScriptedServer.start({ tools: true });
  });

  const tools = ['weather', 'time'].map((name) => ({ type: 'function', function: { name } }));

  test('a conversation is shown and tokenized as a chat with the same tools', async () => {
    await server.chat({ messages, tools });
    const { prompt } = server.engine.requests[0]!;
    const shown = server.tokenizer.decode(prompt, { skipSpecialTokens: false });
    expect(shown).toContain('2 tools');
    expect((await ask('/apply-template', { messages, tools })).answer).toEqual({ prompt: shown });
    expect((await ask('/tokenize', { messages, tools })).answer).toMatchObject({ tokens: [...prompt] });
  });

  test.each<[string, object, string, string]>([
    ['/tokenize', { prompt: 'x', tools }, 'tools', 'needs messages, not prompt'],
    ['/tokenize', { messages, tools: [{ type: 'function' }] }, 'tools.0.function', 'is required'],
    [
      '/apply-template',
      { messages, tools: [...tools, tools[0]] },
      'tools.2.function.name',
      'there are two tools named weather',
    ],
  ])('%s refuses %j', async (path, body, param, message) => {
    const { status, answer } = await ask(path, body);
    expect(status).toBe(400);
    expect(answer).toMatchObject({ error: { param, message: expect.stringContaining(message) } });
  });
});

// As lm-eval's RemoteTokenizer does: it refuses a server without eos_token, and encodes that to learn its id.
test('a client that counts tokens itself finds special tokens and the chat template', async () => {
  const info = (await (await server.get('/tokenizer_info')).json()) as { eos_token: string };
  expect(info).toMatchObject({ eos_token: '<|end|>', chat_template: expect.stringContaining('{% for') });
  const body = { prompt: info.eos_token, add_special_tokens: false };
  expect((await ask('/tokenize', body)).answer).toMatchObject({ tokens: [266] });
  const unserved = await ScriptedServer.start({ serving: false });
  expect((await unserved.get('/tokenizer_info')).status).toBe(503);
  await unserved.stop();
});

test.each<[string, object, string, string]>([
  ['/tokenize', {}, 'prompt', 'prompt or messages is required, and not both'],
  ['/tokenize', { prompt: 'x', messages }, 'prompt', 'and not both'],
  ['/tokenize', { prompt: 'x', enable_thinking: true }, 'enable_thinking', 'needs messages, not prompt'],
  ['/tokenize', { prompt: 'x', temperature: 1 }, 'temperature', 'is not a known field'],
  ['/detokenize', {}, 'tokens', 'tokens is required'],
  ['/detokenize', { tokens: [300] }, 'tokens', 'vocabulary ends at 299'],
  ['/detokenize', { tokens: [-1] }, 'tokens.0', 'must be >= 0'],
  ['/apply-template', { prompt: 'x' }, 'messages', 'messages is required'],
  ['/generate', { prompt: 'x', schema: { uniqueItems: true } }, 'schema.uniqueItems', 'is not supported'],
  [
    '/generate',
    { prompt: 'x', schema: { type: 'object' }, guided_regex: 'a' },
    'guided_regex',
    'guided_regex and schema exclude each other',
  ],
  ['/generate', { prompt: ['x'] }, 'prompt', 'must be string'],
  ['/warmup', { prompt: 'x' }, 'prompt', 'is not a known field'],
])('%s refuses %j', async (path, body, param, message) => {
  const { status, answer } = await ask(path, body);
  expect(status).toBe(400);
  expect(answer).toMatchObject({ error: { param, message: expect.stringContaining(message) } });
  expect(server.engine.requests).toEqual([]);
});

test.each(['prompt', 'messages'])('what is too long to tokenize is reported of %s', async (field) => {
  await server.stop();
  server = await ScriptedServer.start({ maxBodyBytes: 2 ** 20 });
  const long = 'x'.repeat(262_145);
  const value = field === 'prompt' ? long : [{ role: 'user', content: long }];
  const { status, answer } = await ask('/tokenize', { [field]: value });
  expect([status, answer]).toMatchObject([
    400,
    { error: { param: field, message: expect.stringContaining('takes 262144') } },
  ]);
});

test.each(['/tokenize', '/detokenize', '/apply-template', '/generate'])(
  '%s knows the served names',
  async (path) => {
    const body = { '/tokenize': { prompt: 'x' }, '/detokenize': { tokens: [] } }[path] ?? { messages };
    const { status } = await ask(path, {
      model: 'other',
      ...(path === '/generate' ? { prompt: 'x' } : body),
    });
    expect(status).toBe(404);
  },
);

describe('generate', () => {
  test('continues a prompt as it is, up to what is left of the context', async () => {
    server.script = says('Hi', '!');
    const { status, answer } = await ask('/generate', { prompt: 'hello', temperature: 0.5 });
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      model: 'tiny',
      text: 'Hi!',
      finish_reason: 'stop',
      stop_reason: null,
      usage: { prompt_tokens: 2, completion_tokens: 4 },
    });
    const [request] = server.engine.requests;
    expect(Array.from(request!.prompt)).toEqual([bos, 259]);
    expect(request).toMatchObject({ maxTokens: 62, grammar: null, sampling: { temperature: 0.5 } });
  });

  test('holds the answer to a schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } } };
    await ask('/generate', { prompt: 'x', schema, max_tokens: 9 });
    expect(server.engine.requests[0]).toMatchObject({
      maxTokens: 9,
      grammar: { kind: 'jsonSchema', text: JSON.stringify(schema), after: null },
    });
  });
});

test('warmup runs a short generation, with a body or without', async () => {
  for (const body of ['', {}]) {
    const { status, answer } = await ask('/warmup', body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ model: 'tiny', seconds: expect.any(Number) });
  }
  expect(server.engine.requests).toHaveLength(2);
  expect(server.engine.requests[0]).toMatchObject({ maxTokens: 4 });
});

test('the root lists what is here', async () => {
  const answer = (await (await server.get('/')).json()) as { routes: { path: string }[] };
  expect(answer).toMatchObject({ name: 'llmservice', state: 'serving', models: ['tiny', 'small'] });
  expect(answer.routes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/openapi.json', '/tokenize', '/openai/v1/chat/completions']),
  );
});

test.each(['/tokenize', '/apply-template', '/v1/messages/count_tokens'])(
  '%s says so where the model is unloaded meanwhile',
  async (path) => {
    const { lifecycle } = server.parts;
    jest.spyOn(lifecycle.model!.chatTemplate!, 'render').mockImplementation(() => {
      lifecycle.unloaded();
      return Promise.reject(new Error('its threads ended'));
    });
    const { status, answer } = await ask(path, { messages });
    expect(status).toBe(503);
    expect(answer).toMatchObject({ error: { message: expect.stringContaining('was unloaded meanwhile') } });
  },
);
