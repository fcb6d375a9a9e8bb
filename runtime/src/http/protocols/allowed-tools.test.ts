// OpenAI's tool_choice of type allowed_tools: the model is shown the tools that it may call, and no others.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
});
afterEach(() => server.stop());

const names = ['weather', 'time', 'news'];
const parameters = { type: 'object', properties: {} };
const calls = (name: string): object => ({ type: 'function', function: { name } });
const flat = (name: string): object => ({ type: 'function', name });

/** One choice in the words of each protocol. */
const protocols = {
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [{ role: 'user', content: 'x' }],
      tools: names.map((name) => ({ type: 'function', function: { name, parameters } })),
    },
    choice: (mode: string, tools: readonly string[]): object => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: tools.map(calls) },
    }),
  },
  responses: {
    path: '/v1/responses',
    body: { input: 'x', tools: names.map((name) => ({ type: 'function', name, parameters })) },
    choice: (mode: string, tools: readonly string[]): object => ({
      type: 'allowed_tools',
      mode,
      tools: tools.map(flat),
    }),
  },
};

for (const [name, { path, body, choice }] of Object.entries(protocols)) {
  const ask = (mode: string, tools: readonly string[], stream: boolean): Promise<Response> =>
    server.post(path, { ...body, tool_choice: choice(mode, tools), stream });

  test.each([true, false])(`${name}: the others are not there, streamed: %s`, async (stream) => {
    const answer = await ask('auto', ['weather', 'news'], stream);
    await answer.text();
    expect(answer.status).toBe(200);
    const [request] = server.engine.requests;
    const prompt = server.tokenizer.decode(request!.prompt, { skipSpecialTokens: false });
    expect(prompt).toContain('2 tools');
    expect(request!.grammar).toBeNull();
  });

  test(`${name}: one of them must be called where the mode is required`, async () => {
    await ask('required', ['time'], false);
    const grammar = JSON.stringify(server.engine.requests[0]!.grammar);
    expect(grammar).toContain('time');
    expect(grammar).not.toContain('weather');
  });

  test(`${name}: a tool that is none of the tools is refused`, async () => {
    const answer = await ask('auto', ['weather', 'sports'], false);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: {
        param: 'tool_choice',
        message: 'tool_choice names sports, which is none of the tools: weather, time, news',
      },
    });
  });
}
