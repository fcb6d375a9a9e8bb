// Documents beside a conversation, as vLLM takes them: in the prompt where the chat template shows them, and refused elsewhere.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
let plain: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start({ tools: true });
  plain = await ScriptedServer.start();
  for (const each of [server, plain]) each.script = says('Hi');
});
afterAll(() => Promise.all([server.stop(), plain.stop()]));

const documents = [
  { title: 'a', text: 'one' },
  { title: 'b', text: 'two' },
];
const messages = [{ role: 'user', content: 'x' }];
const shown = 'user:x[a: one][b: two]';

test.each([false, true])('a chat is about them; streamed: %s', async (stream) => {
  const answer = await server.post('/v1/chat/completions', { messages, documents, stream });
  expect(answer.status).toBe(200);
  await answer.text();
  expect(server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false })).toBe(
    shown,
  );
});

test('they are rendered and counted as in a chat', async () => {
  const rendered = await server.post('/v1/chat/completions/render', { messages, documents });
  const { token_ids: ids } = (await rendered.json()) as { token_ids: number[] };
  expect(server.tokenizer.decode(Int32Array.from(ids), { skipSpecialTokens: false })).toBe(shown);
  const counted = await server.post('/tokenize', { messages, documents });
  expect(await counted.json()).toMatchObject({ count: ids.length });
});

test('none are as no documents', async () => {
  for (const each of [server, plain]) {
    const answer = await each.post('/v1/chat/completions', { messages, documents: [] });
    expect(answer.status).toBe(200);
  }
});

test.each([
  ['/v1/chat/completions', { messages }, 'chat_template_refused'],
  ['/tokenize', { messages }, 'chat_template_refused'],
  ['/tokenize', { prompt: 'x' }, 'invalid_request'],
  ['/v1/completions', { prompt: 'x' }, 'invalid_request'],
  ['/v1/models/tiny:predict', { prompt: 'x' }, 'invalid_request'],
  ['/v1/responses', { input: 'x' }, 'invalid_request'],
])('%s with %j refuses those that the prompt would not have', async (path, asked, code) => {
  const answer = await plain.post(path, { ...asked, documents });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: {
      code,
      param: expect.stringMatching(/^documents/),
      message: expect.stringContaining('documents'),
    },
  });
});
