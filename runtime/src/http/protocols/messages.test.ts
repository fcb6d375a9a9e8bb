// Answers in Anthropic's Messages, read by Anthropic's own client: streamed with its helper, and whole.

import type Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, messagesClient, tools } from './messages.fixture.js';

let server: ScriptedServer;
let client: Anthropic;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = messagesClient(server);
});
afterEach(() => server.stop());

describe('an answer', () => {
  test.each([true, false])('has thinking, text and uses of tools, streamed: %s', async (stream) => {
    server.script = thinksAndCalls;
    const asked = { ...body, tools };
    const message = stream
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'tiny',
      content: [
        { type: 'thinking', thinking: 'Which city?', signature: 'unsigned' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: expect.any(String), name: 'weather', input: { city: 'Zürich' } },
        { type: 'tool_use', name: 'time', input: { city: 'Bern' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
    });
    const { usage } = message;
    const promptTokens = server.engine.requests[0]!.prompt.length;
    expect(usage).toMatchObject({ input_tokens: promptTokens - 3, cache_read_input_tokens: 3 });
    expect(usage.output_tokens_details).toEqual({ thinking_tokens: 'Which city?'.length + 1 });
  });

  test('is sent as typed events, each block opened, grown and closed', async () => {
    server.script = thinksAndCalls;
    const response = await server.post('/v1/messages', { ...body, tools, stream: true });
    const text = await response.text();
    const events = text
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => {
        const [name, data] = event.split('\n');
        const read = JSON.parse(data!.slice('data: '.length)) as { type: string; index?: number };
        expect(name).toBe(`event: ${read.type}`);
        return `${read.type}${read.index === undefined ? '' : ` ${String(read.index)}`}`;
      });
    expect(events.filter((event, index) => event !== events[index - 1])).toEqual([
      'message_start',
      ...[0, 1, 2, 3].flatMap((index) =>
        ['start', 'delta', 'stop'].map((what) => `content_block_${what} ${String(index)}`),
      ),
      'message_delta',
      'message_stop',
    ]);
    expect(text).toMatch(
      /"message_start".*"output_tokens":0,"output_tokens_details":\{"thinking_tokens":0\}/,
    );
    expect(text).not.toContain('[DONE]');
    expect(response.headers.get('request-id')).toMatch(/^msg_/);
  });

  test.each([
    ['end_turn', null, says('Hi!')],
    ['max_tokens', null, () => [output(byteIds('Hi')), output([], 'length')]],
    ['stop_sequence', '!', says('Hi!')],
  ] as const)('ends with %s, sequence %s', async (stop_reason, stop_sequence, script) => {
    server.script = script;
    const asked = { ...body, ...(stop_sequence === null ? {} : { stop_sequences: [stop_sequence] }) };
    expect(await client.messages.create(asked)).toMatchObject({ stop_reason, stop_sequence });
    expect(await client.messages.stream(asked).finalMessage()).toMatchObject({ stop_reason, stop_sequence });
  });

  test('says what came of arguments that are cut', async () => {
    const { begin } = ScriptedServer.markers;
    server.script = function* () {
      yield output([begin]);
      yield output(byteIds('{"name": "time", "arguments": {"city": "Be'), 'length');
    };
    expect(await client.messages.create({ ...body, tools })).toMatchObject({
      content: [{ type: 'tool_use', name: 'time', input: { INVALID_JSON: '{"city": "Be' } }],
      stop_reason: 'max_tokens',
    });
  });

  test.each(['{"city": ]', '[1]', '{"city": "a" "b"}'])(
    'asks for no call whose arguments are no JSON object: %s',
    async (given) => {
      const { begin, end } = ScriptedServer.markers;
      const bad = [begin, `{"name": "time", "arguments": ${given}}`, end];
      server.script = scriptOf(...bad);
      const problem = { type: 'text', text: expect.stringContaining('called time with arguments') };
      const whole = await client.messages.create({ ...body, tools });
      expect(whole).toMatchObject({ content: [problem], stop_reason: 'end_turn' });
      const events = [];
      for await (const event of await client.messages.create({ ...body, tools, stream: true }))
        events.push(event);
      expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
        delta: { stop_reason: 'end_turn' },
      });

      const good = [begin, '{"name": "weather", "arguments": {"city": "Bern"}}', end];
      server.script = scriptOf(...bad, ...good);
      expect(await client.messages.create({ ...body, tools })).toMatchObject({
        content: [problem, { type: 'tool_use', name: 'weather', input: { city: 'Bern' } }],
        stop_reason: 'tool_use',
      });
    },
  );

  test('has the numbers of a use as they were written, streamed or whole', async () => {
    const { begin, end } = ScriptedServer.markers;
    const input = '{"city":{"id":12345678901234567890,"of":[1.0,-1e400,7,"1.0"]}}';
    server.script = scriptOf(begin, `{"name": "time", "arguments": ${input}}`, end);
    const whole = await server.post('/v1/messages', { ...body, tools });
    expect(await whole.text()).toContain(`"input":${input}`);
    const stream = await server.post('/v1/messages', { ...body, tools, stream: true });
    const fragments = (await stream.text()).matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g);
    expect([...fragments].map(([, text]) => JSON.parse(text!) as string).join('')).toBe(input);
  });

  test('may be nothing at all', async () => {
    server.script = scriptOf();
    expect(await client.messages.create(body)).toMatchObject({ content: [], stop_reason: 'end_turn' });
    expect((await client.messages.stream(body).finalMessage()).content).toEqual([]);
  });
});

test('silence is filled with pings, which the client reads over', async () => {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
  try {
    let goOn = (): void => undefined;
    const silence = new Promise<void>((resolve) => (goOn = resolve));
    server.script = async function* () {
      yield output(byteIds('Hi'));
      await silence;
      yield { ...output(byteIds('!')), finish: 'stop', stopToken: null };
    };
    let sent = Promise.resolve('');
    const listening = client.withOptions({
      fetch: async (...asked) => {
        const response = await fetch(...asked);
        sent = response.clone().text();
        return response;
      },
    });
    const stream = listening.messages.stream(body);
    await new Promise((resolve) => stream.once('text', resolve));
    jest.advanceTimersByTime(15_000);
    goOn();
    expect(await stream.finalText()).toBe('Hi!');
    expect(await sent).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  } finally {
    jest.useRealTimers();
  }
});
