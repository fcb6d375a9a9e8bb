// Fields that other servers know, with values that ask for what happens in any case: taken on every route, and refused
// with any other value. Names that clients give their requests: on the answer and in the log.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const routes: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { messages }],
  completions: ['/v1/completions', { prompt: 'x' }],
  responses: ['/v1/responses', { input: 'x' }],
  messages: ['/v1/messages', { messages, max_tokens: 5 }],
  predict: ['/v1/models/tiny:predict', { prompt: 'x' }],
  generate: ['/generate', { prompt: 'x' }],
};
const every = Object.keys(routes);
const openAi = ['chat', 'completions', 'responses'];

const post = (route: string, more: object, headers = {}): Promise<Response> => {
  const [path, body] = routes[route]!;
  return server.post(path, { ...body, ...more }, headers);
};

test.each<[routes: readonly string[], field: string, taken: unknown, refused: unknown]>([
  [every, 'include_reasoning', true, 'yes'],
  [every, 'separate_reasoning', true, false],
  [every, 'stream_reasoning', true, false],
  [every, 'stream_interval', 1, 5],
  [every, 'return_token_offsets', false, true],
  [every, 'kv_transfer_params', null, {}],
  [every, 'lora_path', null, 'a'],
  [every, 'cache_prompt', true, false],
  [every, 'timings_per_token', false, true],
  [every, 'return_progress', false, true],
  [['responses'], 'enable_response_messages', false, true],
  [['chat'], 'add_special_tokens', false, true],
  [['responses', 'messages'], 'repetition_detection', null, {}],
  [['chat', 'completions', 'responses', 'predict', 'generate'], 'request_id', 'a-1', ''],
  [['chat', 'completions', 'responses', 'predict', 'generate'], 'rid', 'a-1', 5],
  [['chat', 'completions', 'responses', 'predict', 'generate'], 'session_id', 's', 5],
  [['responses'], 'max_tool_calls', 2, 0],
  [openAi, 'service_tier', 'flex', 'cheap'],
  [openAi, 'service_tier', 'ultrafast', 'slow'],
  [openAi, 'prompt_cache_options', { mode: 'explicit', ttl: '12h' }, { ttl: '1h' }],
  [openAi, 'prompt_cache_options', { prewarm: false }, { prewarm: true }],
  [openAi, 'prompt_cache_options', { comparison_response_id: null }, { comparison_response_id: 'resp_1' }],
  [['responses'], 'reasoning', { context: 'auto' }, { context: 'all_turns' }],
  [['responses'], 'reasoning', { generate_summary: 'auto' }, { generate_summary: 'concise' }],
  [['responses'], 'access_programs', { cyber: 'standard' }, { cyber: 'daybreak_red' }],
  [['responses'], 'image', { context_compression: 'auto' }, { context_compression: 'enabled' }],
  [['responses'], 'background_options', { completion_window: 'soonest' }, { completion_window: '8h' }],
  [openAi, 'store', true, 'yes'],
  [openAi, 'prompt_cache_retention', '24h', '48h'],
  [['chat', 'completions'], 'verbosity', 'low', 'none'],
  [['responses'], 'truncation', 'auto', 'always'],
  [['responses'], 'text', { verbosity: 'high' }, { verbosity: 'none' }],
])('%j: %s may be %j, and not %j', async (names, field, taken, refused) => {
  for (const name of names) {
    const answer = await post(name, { [field]: taken });
    expect({
      name,
      status: answer.status,
      error: ((await answer.json()) as { error: unknown }).error,
    }).toEqual({
      name,
      status: 200,
      error: name === 'responses' ? null : undefined,
    });
    const refusal = await post(name, { [field]: refused });
    expect({ name, status: refusal.status }).toEqual({ name, status: 400 });
    expect(JSON.stringify(await refusal.json())).toContain(field);
  }
});

test('null asks for nothing, in fields that nobody knows too', async () => {
  for (const name of every) {
    const [taken, refused] = [await post(name, { 'a/b~.c': null }), await post(name, { 'a/b~.c': 0 })];
    expect({ name, statuses: [taken.status, refused.status] }).toEqual({ name, statuses: [200, 400] });
    expect(JSON.stringify(await refused.json())).toContain('a/b~.c is not a known field of this route');
  }
});

test('the client’s own name of a request is on the answer and in the log', async () => {
  const named = { 'x-request-id': 'order-7' };
  for (const name of every) {
    const answer = await post(name, {}, named);
    expect([name, answer.headers.get('x-request-id')]).toEqual([name, 'order-7']);
    await answer.text();
  }
  const refused = await post('chat', { n: 0 }, named);
  expect(refused.headers.get('x-request-id')).toBe('order-7');
  const unnamed = await post('chat', { request_id: 'mine' });
  const { id } = (await unnamed.json()) as { id: string };
  expect(unnamed.headers.get('x-request-id')).toBe(id);
  const long = await post('chat', { rid: 'theirs' }, { 'x-request-id': 'x'.repeat(129) });
  expect(long.headers.get('x-request-id')).toMatch(/^chatcmpl-/);
  while (server.ended.length < every.length + 3) await new Promise(setImmediate);
  const names = server.ended.map(({ clientRequestId }) => clientRequestId);
  expect(names.toSorted()).toEqual([...every.map(() => 'order-7'), 'order-7', 'mine', 'theirs'].toSorted());
});
