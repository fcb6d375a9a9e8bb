// Tools of a model whose chat template knows none, and refuses roles other than system, user and assistant: a message
// describes them, in every protocol, streamed and not.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { scriptOf } from '../call-script.fixture.js';
import { says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body as messagesBody, tools as messagesTools } from './messages.fixture.js';
import { body as responsesBody, tools as responsesTools } from './responses.fixture.js';
import { protocols, type Said } from './whole-answer.fixture.js';

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: 'described' });
});
afterEach(() => server.stop());

const all = Object.keys(protocols) as (keyof typeof protocols)[];
const each = all.flatMap((protocol) => [true, false].map((stream) => [protocol, stream] as const));

const weather = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>';
const time = '<tool_call>\n{"name": "time", "arguments": {"city": "Bern"}}\n</tool_call>';
const parameters = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}';

const chatTools = responsesTools.map(({ name, parameters }) => ({
  type: 'function',
  function: { name, parameters },
}));
const bern = '{"city": "Bern"}';
const called = ['weather', 'time'];
const results = { weather: 'rain', time: '3:00' };

/** A question, two calls behind a text, and their results. */
const asked = {
  chat: {
    path: '/v1/chat/completions',
    tools: chatTools,
    body: {
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: called.map((name) => ({
            id: name,
            type: 'function',
            function: { name, arguments: bern },
          })),
        },
        ...Object.entries(results).map(([id, content]) => ({ role: 'tool', tool_call_id: id, content })),
      ],
    },
  },
  responses: {
    path: '/v1/responses',
    tools: responsesTools,
    body: {
      ...responsesBody,
      input: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: 'I look.' },
        ...called.map((name) => ({ type: 'function_call', call_id: name, name, arguments: bern })),
        ...Object.entries(results).map(([id, output]) => ({
          type: 'function_call_output',
          call_id: id,
          output,
        })),
      ],
    },
  },
  messages: {
    path: '/v1/messages',
    tools: messagesTools,
    body: {
      ...messagesBody,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            ...called.map((name) => ({ type: 'tool_use', id: name, name, input: { city: 'Bern' } })),
          ],
        },
        {
          role: 'user',
          content: Object.entries(results).map(([id, content]) => ({
            type: 'tool_result',
            tool_use_id: id,
            content,
          })),
        },
      ],
    },
  },
} as const;

const history =
  `<user>x<assistant>I look.\n${weather}\n${time}` +
  '<user><tool_response>\nrain\n</tool_response>\n<tool_response>\n3:00\n</tool_response>';

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

const ask = (protocol: keyof typeof protocols, more: object): Promise<Response> =>
  server.post(asked[protocol].path, { ...asked[protocol].body, ...more });

describe.each(each)('on %s, streamed: %s', (protocol, stream) => {
  test('calls are calls, and the prompt describes the tools', async () => {
    server.script = scriptOf('I look.\n<tool_', `call>${weather.slice(11)}\n`, time);
    const said: Said = {
      text: 'I look.',
      calls: ['weather {"city":"Bern"}', 'time {"city":"Bern"}'],
      ended: { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' }[protocol],
    };
    expect(await protocols[protocol](server, stream, 'auto')).toEqual(said);
    const prompt = lastPrompt();
    expect(prompt).toMatch(/^<system># Tools\n/);
    for (const name of called)
      expect(prompt).toContain(
        `\n{"type": "function", "function": {"name": "${name}", "parameters": ${parameters}}}\n`,
      );
    expect(prompt).toMatch(/<user>x$/);
    expect(server.engine.requests.at(-1)!.grammar).toBeNull();
  });

  test('earlier calls and results are text, and a header says that a message describes the tools', async () => {
    server.script = says('Rain.');
    const response = await ask(protocol, { tools: asked[protocol].tools, stream });
    await response.text();
    expect([response.status, response.headers.get('x-llmservice-tools')]).toEqual([200, 'described']);
    expect(lastPrompt().endsWith(history)).toBe(true);
    expect(lastPrompt()).toMatch(/^<system># Tools\n/);
  });

  test('they are text where the request has no tools any more', async () => {
    server.script = says('Rain.');
    const response = await ask(protocol, { stream });
    await response.text();
    expect([response.status, response.headers.get('x-llmservice-tools')]).toEqual([200, null]);
    expect(lastPrompt()).toBe(history);
  });

  test('one call or more are held by a grammar where they are required', async () => {
    server.script = scriptOf(weather);
    const { calls, text } = await protocols[protocol](server, stream, 'required');
    expect([calls, text]).toEqual([['weather {"city":"Bern"}'], '']);
    const { kind, text: grammar } = server.engine.requests.at(-1)!.grammar!;
    expect([kind, JSON.parse(grammar)]).toEqual([
      'format',
      expect.objectContaining({
        type: 'tags_with_separator',
        at_least_one: true,
        tags: [expect.objectContaining({ begin: '<tool_call>', end: '</tool_call>' })],
      }),
    ]);
  });

  test('no tool is described where none may be called', async () => {
    server.script = says('Hi');
    await protocols[protocol](server, stream, 'none');
    expect(lastPrompt()).toBe('<user>x');
  });
});

test('a named function is the one of the grammar', async () => {
  const tool_choice = { type: 'function', function: { name: 'time' } };
  await server.chat({ tools: chatTools, tool_choice });
  const grammar = server.engine.requests.at(-1)!.grammar!.text;
  expect(grammar).toContain('\\"name\\": \\"time\\"');
  expect(grammar).not.toContain('weather');
});

test('tools are described behind the system message of the client', async () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'x' },
  ];
  await server.chat({ messages, tools: chatTools });
  expect(lastPrompt()).toMatch(/^<system>Be brief\.\n\n# Tools\n[^]*<user>x$/);
});

test('numbers of earlier calls are what the model wrote', async () => {
  const written = '{"a": 20.0, "id": 12345678901234567890, "10": [-0.0, 1.50]}';
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: written } };
  const messages = [{ role: 'assistant', content: null, tool_calls: [call] }];
  const response = await server.post('/apply-template', { messages });
  expect(await response.json()).toEqual({
    prompt: `<assistant><tool_call>\n{"name": "f", "arguments": ${written}}\n</tool_call>`,
  });
});

test.each([
  ['/apply-template', chatTools],
  ['/tokenize', chatTools],
  ['/v1/messages/count_tokens', messagesTools],
])('%s reads the prompt of the answer', async (path, tools) => {
  const messages = [{ role: 'user', content: 'x' }];
  await server.chat({ messages, tools: chatTools });
  const { prompt } = server.engine.requests.at(-1)!;
  const answer = (await (await server.post(path, { messages, tools })).json()) as Record<string, unknown>;
  const { prompt: text, count, input_tokens: tokens } = answer;
  if (text === undefined) expect(count ?? tokens).toBe(prompt.length);
  else expect(text).toBe(lastPrompt());
});

test('an answer whose chat template shows the tools has no such header', async () => {
  const other = await ScriptedServer.start({ tools: true });
  const response = await other.chat({ tools: chatTools });
  expect([response.status, response.headers.get('x-llmservice-tools')]).toEqual([200, null]);
  await other.stop();
});
