// vLLM's include_reasoning: false and OpenRouter's reasoning.exclude: the model reasons, and its answer alone is sent.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { events, json } from '../answers.fixture.js';
import { thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  server.script = thinksAndCalls;
});
afterEach(() => server.stop());

const tools = ['weather', 'time'].map((name) => ({ type: 'function', function: { name } }));

describe.each([{ include_reasoning: false }, { reasoning: { exclude: true } }])('with %j', (asked) => {
  test('a whole answer has none, and counts it', async () => {
    const { choices, usage } = await json(await server.chat({ tools, ...asked }));
    const message = { reasoning: null, reasoning_content: null, content: 'I look.', tool_calls: [{}, {}] };
    expect(choices).toMatchObject([{ message, finish_reason: 'tool_calls' }]);
    const reasoning = (await json(await server.chat({ tools }))).usage;
    expect(usage).toEqual(reasoning);
  });

  test('a stream has no chunk of it', async () => {
    const [without, all] = [
      await events(await server.chat({ tools, stream: true, ...asked })),
      await events(await server.chat({ tools, stream: true })),
    ];
    const isReasoning = (chunk: unknown): boolean => /"reasoning":"/.test(JSON.stringify(chunk));
    expect(without.filter(isReasoning)).toEqual([]);
    expect(without).toHaveLength(all.filter((chunk) => !isReasoning(chunk)).length);
  });
});
