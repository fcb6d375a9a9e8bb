// A conversation that Anthropic's newest clients ask the server to keep: refused so that they continue without.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, input_schema, messagesClient } from './messages.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

test.each([{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }, true])(
  'thread %j is refused with what clients act on, whatever else is wrong',
  async (thread) => {
    for (const path of ['/v1/messages', '/v1/messages?beta=true', '/v1/messages/count_tokens']) {
      for (const more of [{}, { stream: true }, { messages: [], surprise: 1 }]) {
        const answer = await server.post(path, { ...body, thread, ...more });
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({
          type: 'error',
          error: {
            type: 'invalid_request_error',
            param: 'thread',
            details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
          },
        });
      }
    }
    expect(server.engine.requests).toEqual([]);
  },
);

test('no thread is asked for by null', async () => {
  expect((await server.post('/v1/messages', { ...body, thread: null })).status).toBe(200);
});

test.each([true, false])('the client’s own tool runner runs to its end, streamed: %s', async (stream) => {
  const scripts = [thinksAndCalls, scriptOf('It is warm.')];
  server.script = (...given) => scripts[Math.min(server.engine.requests.length - 1, 1)]!(...given);
  const asked: string[] = [];
  const tools = ['weather', 'time'].map((name) => ({
    type: 'custom' as const,
    name,
    description: name,
    input_schema,
    parse: (input: unknown) => input as { city: string },
    run: ({ city }: { city: string }) => {
      asked.push(`${name} ${city}`);
      return 'warm';
    },
  }));
  const runner = messagesClient(server).beta.messages.toolRunner({ ...body, tools, stream });
  const message = await runner.runUntilDone();
  expect(message.content).toMatchObject([{ type: 'text', text: 'It is warm.' }]);
  expect(asked).toEqual(['weather Zürich', 'time Bern']);
  const prompts = server.engine.requests.map(({ prompt }) =>
    server.tokenizer.decode(prompt, { skipSpecialTokens: false }),
  );
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toContain('user:xassistant:I look.');
  expect(prompts[1]).toContain(':warm');
});
