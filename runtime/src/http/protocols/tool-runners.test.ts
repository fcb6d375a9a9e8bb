// The clients' own loops, which call the tools that an answer asks for and ask again until it asks for none.

import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ResponsesToolRunner, type ResponsesRunnerOptions } from 'openai/helpers/responses-tool-runner';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body as messagesBody, messagesClient } from './messages.fixture.js';
import { body, responsesClient, tools } from './responses.fixture.js';

let server: ScriptedServer;
let called: string[];
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  // Jest's own makes objects of another realm, which OpenAI's runner does not take for plain ones.
  jest
    .spyOn(globalThis, 'structuredClone')
    .mockImplementation(<T>(value: T) => JSON.parse(JSON.stringify(value)) as T);
  called = [];
  const [calls, answers] = [thinksAndCalls, scriptOf('It is warm.')];
  server.script = (...given) => (server.engine.requests.length === 1 ? calls : answers)(...given);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.stop();
});

const run = (name: string, city: unknown): string =>
  `${name} ${String(called.push(`${name} ${String(city)}`))}`;

/** OpenAI's chat completions. */
function chat(stream: boolean): Promise<string | null> {
  const asked = {
    model: body.model,
    messages: [{ role: 'user' as const, content: 'x' }],
    tools: tools.map(({ name, parameters }) => ({
      type: 'function' as const,
      function: {
        name,
        description: name,
        parameters,
        parse: JSON.parse as (text: string) => { city: string },
        function: ({ city }: { city: string }) => run(name, city),
      },
    })),
  };
  const { completions } = responsesClient(server).chat;
  return stream
    ? completions.runTools({ ...asked, stream }).finalContent()
    : completions.runTools(asked).finalContent();
}

/** OpenAI's Responses, which checks each item that it sends back. */
async function responses(options: ResponsesRunnerOptions): Promise<string> {
  const functions = tools.map((tool) => ({
    tool,
    independent: true,
    execute: ({ city }: Record<string, unknown>) => run(tool.name, city),
  }));
  const runner = new ResponsesToolRunner({ functions });
  return (await runner.run(responsesClient(server), body, options)).output_text;
}

/** Anthropic's Messages. */
async function anthropic(stream: boolean): Promise<string> {
  const inputSchema = {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  } as const;
  const runnable = tools.map(({ name }) =>
    betaTool({ name, description: name, inputSchema, run: ({ city }) => run(name, city) }),
  );
  const { messages } = messagesClient(server).beta;
  const runner = messages.toolRunner({ ...messagesBody, tools: runnable, stream });
  const { content } = await runner.runUntilDone();
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test.each<[string, () => Promise<string | null>]>([
  ['chat completions', () => chat(false)],
  ['chat completions, streamed', () => chat(true)],
  ['Responses', () => responses({})],
  ['Responses, streamed', () => responses({ stream: true })],
  ['Responses, with calls that run before the stream ends', () => responses({ stream: true, eager: true })],
  ['Messages', () => anthropic(false)],
  ['Messages, streamed', () => anthropic(true)],
])('%s: the tools run once each, and the model reads what they gave', async (_, answer) => {
  expect(await answer()).toBe('It is warm.');
  expect(called.toSorted()).toEqual(['time Bern', 'weather Zürich']);
  const prompts = server.engine.requests.map(({ prompt }) =>
    server.tokenizer.decode(prompt, { skipSpecialTokens: false }),
  );
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toMatch(/assistant:I look\.\n?\[weather .*:weather [12].*:time [12]/s);
});
