// Calls of tools in chat completions, read by OpenAI's own client: streamed with its helper, and whole.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { events, json } from '../answers.fixture.js';
import { scriptOf, speaksAndCalls } from '../call-script.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterEach(() => server.stop());

const { begin, end } = ScriptedServer.markers;
const messages = [{ role: 'user' as const, content: 'x' }];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters },
}));

const twoCalls = scriptOf(...speaksAndCalls);

describe('calls', () => {
  test('come in chunks that the SDK puts together', async () => {
    server.script = twoCalls;
    const received: string[] = [];
    const stream = client.chat.completions
      .stream({ model: 'tiny', messages, tools })
      .on('tool_calls.function.arguments.delta', ({ name, arguments_delta: delta }) =>
        received.push(`${name}:${delta}`),
      );
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          {
            id: expect.stringMatching(/^call_/),
            type: 'function',
            function: { name: 'weather', arguments: '{"city": "Zürich"}' },
          },
          { type: 'function', function: { name: 'time', arguments: '{"city": "Bern"}' } },
        ],
      },
    });
    expect(received.filter((each) => each.startsWith('weather')).length).toBeGreaterThan(2);
  });

  test('are the same whole', async () => {
    server.script = twoCalls;
    const { choices } = await client.chat.completions.create({ model: 'tiny', messages, tools });
    const [first, second] = choices[0]!.message.tool_calls!;
    expect(choices[0]!.finish_reason).toBe('tool_calls');
    expect(choices[0]!.message.content).toBe('I look.');
    expect([first, second]).toMatchObject([
      { type: 'function', function: { name: 'weather', arguments: '{"city": "Zürich"}' } },
      { type: 'function', function: { name: 'time', arguments: '{"city": "Bern"}' } },
    ]);
    expect(first!.id).not.toBe(second!.id);
  });

  test('begin with a chunk of the name alone, then fragments, one thing in each chunk', async () => {
    server.script = twoCalls;
    const chunks = await events(await server.chat({ tools, stream: true }));
    const deltas = chunks.flatMap((chunk) => chunk.choices.map(({ delta }) => delta));
    const [first, ...others] = deltas.flatMap((delta) =>
      delta.tool_calls === undefined ? [] : [delta.tool_calls],
    );
    expect(first).toEqual([
      { index: 0, id: expect.any(String), type: 'function', function: { name: 'weather', arguments: '' } },
    ]);
    expect(others[0]).toEqual([{ index: 0, function: { arguments: '{"ci' } }]);
    expect(others.every((calls) => calls.length === 1)).toBe(true);
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('tool_calls');
  });

  test('have no content with them where there is no text', async () => {
    server.script = scriptOf(begin, '{"name": "time", "arguments": {}}', end);
    const body = await json(await server.chat({ tools }));
    expect(body.choices[0]).toMatchObject({ message: { content: null }, finish_reason: 'tool_calls' });
  });

  test('are cut where the tokens end', async () => {
    server.script = function* () {
      yield output([begin]);
      yield output(byteIds('{"name": "time", "arguments": {"city": "Be'), 'length');
    };
    const body = await json(await server.chat({ tools }));
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { tool_calls: [{ function: { arguments: '{"city": "Be' } }] },
    });
  });

  test('end the answer after the first where several are not wanted', async () => {
    server.script = twoCalls;
    const body = await json(await server.chat({ tools, parallel_tool_calls: false }));
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'weather' } }] },
    });
    expect(body.usage!.completion_tokens).toBeLessThan(100);
    expect(server.engine.open).toBe(0);
  });

  test('inside of the reasoning are reasoning', async () => {
    const { thinkBegin, thinkEnd } = ScriptedServer.markers;
    server.script = scriptOf(thinkBegin, 'If ', begin, '{"name": "time"}', end, thinkEnd, 'No.');
    const body = await json(await server.chat({ tools }));
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: {
        content: 'No.',
        reasoning: 'If <tool_call>{"name": "time"}</tool_call>',
      },
    });
    expect(body.choices[0]).not.toHaveProperty('message.tool_calls');
  });

  test('that the reasoning ends with are calls, streamed and whole', async () => {
    server.script = scriptOf(
      ScriptedServer.markers.thinkBegin,
      'Hm.',
      begin,
      '{"name": "time", "arguments": {}}',
      end,
    );
    const called = {
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'time', arguments: '{}' } }] },
    };
    const streamed = client.chat.completions.stream({ model: 'tiny', messages, tools });
    expect((await streamed.finalChatCompletion()).choices[0]).toMatchObject(called);
    expect((await json(await server.chat({ tools }))).choices[0]).toMatchObject(called);
  });

  test('are text where no tools are asked for', async () => {
    server.script = scriptOf(begin, '{"name": "time", "arguments": {}}', end);
    const text = '<tool_call>{"name": "time", "arguments": {}}</tool_call>';
    for (const body of [{}, { tools, tool_choice: 'none' }])
      expect((await json(await server.chat(body))).choices[0]).toMatchObject({ message: { content: text } });
  });
});

describe('the engine is asked for', () => {
  const grammarOf = async (body: object): Promise<unknown> => {
    await server.chat(body);
    const { grammar } = server.engine.requests.at(-1)!;
    return grammar?.kind === 'toolCalls' ? (JSON.parse(grammar.text) as unknown) : grammar;
  };
  const nameOf = (name: string): unknown =>
    expect.objectContaining({ type: 'const_string', value: `\n{"name": "${name}", "arguments": ` });

  test('anything with tool_choice auto', async () => {
    expect(await grammarOf({ tools })).toBeNull();
  });

  test('calls of any tool with tool_choice required', async () => {
    expect(await grammarOf({ tools, tool_choice: 'required' })).toMatchObject({
      begin,
      end,
      otherwise: null,
      many: true,
      body: { type: 'or', elements: [{ elements: expect.arrayContaining([nameOf('weather')]) }, {}] },
    });
  });

  test('one call with a name, or without parallel calls', async () => {
    const tool_choice = { type: 'function', function: { name: 'time' } };
    expect(await grammarOf({ tools, tool_choice })).toMatchObject({
      otherwise: null,
      many: false,
      body: { type: 'sequence', elements: expect.arrayContaining([nameOf('time')]) },
    });
    expect(await grammarOf({ tools, tool_choice: 'required', parallel_tool_calls: false })).toMatchObject({
      many: false,
    });
  });

  test('calls by their schemas in free text where a tool is strict', async () => {
    const strict = [{ type: 'function', function: { name: 'time', strict: true, parameters } }];
    expect(await grammarOf({ tools: strict })).toMatchObject({ otherwise: true });
  });

  test('any object where a tool is not strict and its schema has a type that JSON does not', async () => {
    const parameters = { type: 'dict', properties: { x: { type: 'float' } } };
    const lax = [{ type: 'function', function: { name: 'time', parameters } }];
    const any = expect.objectContaining({ type: 'json_schema', json_schema: { type: 'object' } });
    expect(await grammarOf({ tools: lax, tool_choice: 'required' })).toMatchObject({
      body: { elements: expect.arrayContaining([any]) },
    });
  });

  test('calls or structured output with response_format', async () => {
    expect(await grammarOf({ tools, response_format: { type: 'json_object' } })).toMatchObject({
      otherwise: { type: 'json_schema', json_schema: { type: 'object' } },
    });
  });
});

test.each<[object, string]>([
  [{ tool_choice: 'required' }, 'tool_choice required needs tools'],
  [{ tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice names g, and needs tools'],
  [
    { tools, tool_choice: { type: 'function', function: { name: 'no' } } },
    'tool_choice names no, which is none of the tools: weather, time',
  ],
  [{ tools: [tools[0], tools[0]] }, 'there are two tools named weather'],
  [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools.0.function.name must match pattern'],
  [{ tools: [{ type: 'web_search' }] }, 'tools.0.function is required'],
  [{ tools, ignore_eos: true }, 'ignore_eos and tools exclude each other'],
  [
    { tools: [{ type: 'function', function: { name: 'a', strict: true, parameters: { not: {} } } }] },
    'tools.0.function.parameters.not is not supported in a schema',
  ],
  [{ messages: [{ role: 'assistant', tool_calls: [{}] }] }, 'messages.0.tool_calls.0.function is required'],
])('%j is refused', async (body, message) => {
  const response = await server.chat(body);
  expect(response.status).toBe(400);
  expect((await json(response)).error.message).toContain(message);
});

test('numbers of earlier calls are what the model wrote, so that it reads its own words and the cache knows them', async () => {
  const given = '{"a": 20.0, "id": 12345678901234567890, "e": 1e5, "list": [-0.0, 1.50, 7], "text": "2.0"}';
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: given } };
  const messages = [
    { role: 'assistant', content: null, tool_calls: [call, call] },
    { role: 'tool', tool_call_id: 'call_1', content: '3.0' },
  ];
  const response = await server.post('/apply-template', { messages });
  expect(await response.json()).toEqual({
    prompt: expect.stringContaining(`[f ${given}][f ${given}]tool(call_1):3.0`),
  });
});

test('tools are refused of a model that has no form of calls', async () => {
  const plain = await ScriptedServer.start();
  const response = await plain.chat({ tools });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'tools_not_supported', param: 'tools' } });
  await plain.stop();
});
