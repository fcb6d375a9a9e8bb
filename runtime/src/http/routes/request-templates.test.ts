// Chat templates that requests bring, on servers that take them and on others.

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
let other: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start({ tools: true, takesTemplates: true });
  other = await ScriptedServer.start({ tools: true });
  for (const each of [server, other]) each.script = says('Hi');
});
afterAll(() => Promise.all([server.stop(), other.stop()]));

const messages = [{ role: 'user', content: 'x' }];
const template = '{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{{ extra }}';
const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

test.each([false, true])('a chat is written by its own template; streamed: %s', async (stream) => {
  const asked = { messages, chat_template: template, chat_template_kwargs: { extra: '!' }, stream };
  const answer = await server.post('/v1/chat/completions', asked);
  expect(answer.status).toBe(200);
  await answer.text();
  expect(lastPrompt()).toBe('<user>x!');
  await (await server.post('/v1/chat/completions', { messages })).text();
  expect(lastPrompt()).toBe('user:x');
});

test('it shows documents where it has a place for them', async () => {
  const documents = [{ text: 'one' }];
  const chat_template = `${template}{{ documents[0].text }}`;
  const shown = await server.post('/v1/chat/completions', { messages, documents, chat_template });
  expect(shown.status).toBe(200);
  expect(lastPrompt()).toBe('<user>xone');
  const refused = await server.post('/v1/chat/completions', { messages, documents, chat_template: template });
  expect(await refused.json()).toMatchObject({ error: { param: 'documents' } });
});

test.each([
  ['{% for m in messages %}', 'end of template'],
  ["{{ raise_exception('no') }}", 'no'],
  ['{{ messages | nothing }}', 'nothing'],
  ['{% include "other" %}', 'include'],
])('%s is refused as the request’s fault', async (chat_template, why) => {
  const answer = await server.post('/v1/chat/completions', { messages, chat_template });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: {
      code: 'chat_template_refused',
      param: 'chat_template',
      message: expect.stringContaining(why),
    },
  });
});

test.each([
  ['/v1/chat/completions', { messages }, 'trust-request-chat-template'],
  ['/v1/chat/completions/render', { messages }, 'trust-request-chat-template'],
  ['/tokenize', { messages }, 'chat_template'],
  ['/v1/completions', { prompt: 'x' }, 'chat_template'],
  ['/v1/responses', { input: 'x' }, 'chat_template'],
])('%s takes none where the server is not set to', async (path, asked, why) => {
  const answer = await other.post(path, { ...asked, chat_template: template });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: { code: 'invalid_request', param: 'chat_template', message: expect.stringContaining(why) },
  });
});

test('one without end is refused by its length', async () => {
  const answer = await server.post('/v1/chat/completions', { messages, chat_template: 'x'.repeat(65_537) });
  expect(await answer.json()).toMatchObject({ error: { param: 'chat_template' } });
});
