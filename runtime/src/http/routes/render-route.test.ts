// vLLM's render routes: what the engine would be given, without asking it.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const messages = [{ role: 'user', content: 'x' }];
const tools = [{ type: 'function', function: { name: 'weather' } }];

/** Prompts that the engine is given by the route itself. */
async function given(path: string, body: object): Promise<number[][]> {
  server.engine.requests.length = 0;
  await server.post(path, { ...body, max_tokens: 1 });
  return server.engine.requests.map(({ prompt }) => [...prompt]);
}

async function rendered(path: string, body: object): Promise<unknown> {
  server.engine.requests.length = 0;
  const answer = await server.post(`${path}/render`, body);
  expect([answer.status, server.engine.requests]).toEqual([200, []]);
  return answer.json();
}

test.each([
  [{ messages }],
  [{ messages, tools }],
  [{ messages, stream: true }],
  [{ messages, chat_template_kwargs: { enable_thinking: true } }],
  [{ messages, truncate_prompt_tokens: 3 }],
  [
    {
      messages: [...messages, { role: 'assistant', content: 'y' }],
      continue_final_message: true,
      add_generation_prompt: false,
    },
  ],
])('the prompt of the chat %j', async (body) => {
  const [token_ids] = await given('/v1/chat/completions', body);
  expect(await rendered('/v1/chat/completions', body)).toEqual({
    request_id: expect.any(String),
    model: 'tiny',
    token_ids,
    features: null,
    stream: 'stream' in body,
  });
});

test.each([['x'], [['x', 'hello']], [[104, 105]], [[[104], [105, 106]]]])(
  'the prompts of the completion %j',
  async (prompt) => {
    const all = await given('/v1/completions', { prompt });
    expect(await rendered('/v1/completions', { prompt })).toMatchObject(
      all.map((token_ids) => ({ token_ids })),
    );
  },
);

test.each([
  ['/v1/chat/completions/render', { messages: [] }, 'messages'],
  ['/v1/chat/completions/render', { messages, max_tokens: 5000 }, 'max_tokens'],
  ['/v1/completions/render', { prompt: 'x'.repeat(5000) }, 'prompt'],
  ['/v1/completions/render', { prompt: 'x', surprise: 1 }, 'surprise'],
])('%s refuses %j as the route itself does', async (path, body, param) => {
  const answers = [await server.post(path, body), await server.post(path.replace('/render', ''), body)];
  const [own, routes] = await Promise.all(answers.map((answer) => answer.json()));
  expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  expect(own).toEqual(routes);
  expect(own).toMatchObject({ error: { param } });
});
