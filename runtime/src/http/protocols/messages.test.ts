// Anthropic's Messages, read by Anthropic's own client: streamed with its helper, and whole.

import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { anthropicError } from '../api/anthropic-error.js';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { byteIds, output, says } from '../scripted-engine.fixture.js';
import { ApiError } from '../../request/body/api-error.js';
import { parseMessages } from '../../request/parse/parse-messages.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

let server: ScriptedServer;
let client: Anthropic;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
});
afterEach(() => server.stop());

const user = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({
  role: 'user',
  content,
});
const body = { model: 'tiny', max_tokens: 500, messages: [user('x')] };
const input_schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const tools = ['weather', 'time'].map((name) => ({ name, input_schema }));

const defaults = { sampling: {}, eosIds: [] };

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

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

  test('has a use without input where the arguments are cut', async () => {
    const { begin } = ScriptedServer.markers;
    server.script = function* () {
      yield output([begin]);
      yield output(byteIds('{"name": "time", "arguments": {"city": "Be'), 'length');
    };
    expect(await client.messages.create({ ...body, tools })).toMatchObject({
      content: [{ type: 'tool_use', name: 'time', input: {} }],
      stop_reason: 'max_tokens',
    });
  });

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

describe('the model is given', () => {
  test('system, thinking, uses of tools and their results as its template has them', async () => {
    await client.messages.create({
      ...body,
      system: [
        { type: 'text', text: 'Be ', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'brief.' },
      ],
      tools,
      messages: [
        user('Weather?'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'unsigned' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } },
          ],
        },
        user([
          {
            type: 'tool_result',
            tool_use_id: 'call_1',
            content: [{ type: 'text', text: 'no answer' }],
            is_error: true,
          },
          { type: 'text', text: 'And now?' },
        ]),
      ],
    });
    expect(lastPrompt()).toBe(
      'system:Be brief.user:Weather?assistant:I look.[weather {"city": "Bern"}]' +
        'tool(call_1):Error: no answeruser:And now?2 tools!',
    );
  });

  test.each([true, false])('thinking that the client does not get, streamed: %s', async (stream) => {
    server.script = thinksAndCalls;
    const asked = { ...body, tools, thinking: { type: 'adaptive' as const, display: 'omitted' as const } };
    const { content } = stream
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    expect(content[0]).toEqual({
      type: 'thinking',
      thinking: '',
      signature: expect.stringMatching(/^llmservice-reasoning-1:/),
    });
    const messages = [user('x'), { role: 'assistant', content: content.slice(0, 2) }, user('y')];
    expect(parseMessages({ ...body, messages }, defaults, 0n).parsed.prompts).toMatchObject([
      { messages: [{}, { content: 'I look.', reasoning_content: 'Which city?' }, {}] },
    ]);
  });

  test('of tools that are deferred those that a result refers to', async () => {
    const [weather, time] = tools;
    const search = { name: 'search', input_schema };
    const asked = {
      ...body,
      tools: [{ ...weather!, defer_loading: true }, search, { ...time!, defer_loading: true }],
    };
    await client.messages.create(asked);
    expect(lastPrompt()).toBe('user:x1 tools!');
    const found = [{ type: 'tool_reference' as const, tool_name: 'time' }];
    const messages = [
      user('x'),
      {
        role: 'assistant' as const,
        content: [{ type: 'tool_use' as const, id: 'call_1', name: 'search', input: {} }],
      },
      user([{ type: 'tool_result', tool_use_id: 'call_1', content: found }]),
    ];
    await client.messages.create({ ...asked, messages });
    expect(lastPrompt()).toBe(
      'user:xassistant:[search {}]tool(call_1):The tool time can be called now.\n2 tools!',
    );
    const { input_tokens } = await client.messages.countTokens({
      model: 'tiny',
      tools: asked.tools,
      messages,
    });
    expect(input_tokens).toBe(server.engine.requests.at(-1)!.prompt.length);
    expect(JSON.stringify(parseMessages(asked, defaults, 0n).parsed.tools)).not.toContain('time');
  });

  test('an answer that was begun, to continue with it', async () => {
    await client.messages.create({ ...body, messages: [user('x'), { role: 'assistant', content: 'It is' }] });
    expect(lastPrompt()).toBe('user:xassistant:It is');
  });

  test.each([
    [undefined, 'user:x!'],
    [{ type: 'disabled' as const }, 'user:x!'],
    [{ type: 'enabled' as const, budget_tokens: 1024 }, 'user:x'],
    [{ type: 'adaptive' as const }, 'user:x'],
  ])('room to think with %j', async (thinking, prompt) => {
    await client.messages.create({ ...body, ...(thinking === undefined ? {} : { thinking }) });
    expect(lastPrompt()).toBe(prompt);
  });

  test.each([
    ['as much room to think as it says', 1024, { reasoning: { tokens: 1024 } }],
    ['all its tokens to think where it says as many', 2000, null],
    ['all its tokens to think where it says more than an engine counts', 2 ** 40, null],
  ])('%s', async (_, budget, rules) => {
    const thinking = { type: 'enabled', budget_tokens: budget } as const;
    await client.messages.create({ ...body, max_tokens: 2000, thinking });
    const { requests } = server.engine;
    if (rules === null) expect(requests[0]!.rules).toBeNull();
    else expect(requests[0]!.rules).toMatchObject(rules);
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

test.each([
  ['any', { type: 'any' as const }, { otherwise: null, many: true }],
  ['one tool', { type: 'tool' as const, name: 'time' }, { otherwise: null, many: false }],
  ['one call', { type: 'any' as const, disable_parallel_tool_use: true }, { otherwise: null, many: false }],
])('tool_choice %s holds the answer to calls', async (_, tool_choice, grammar) => {
  await client.messages.create({ ...body, tools, tool_choice });
  expect(JSON.parse(server.engine.requests[0]!.grammar!.text)).toMatchObject(grammar);
});

test('sampling, structured output and the user reach the engine', async () => {
  const more = { temperature: 0.5, top_p: 0.25, top_k: 7 };
  const format = { type: 'json_schema' as const, schema: { type: 'object', properties: {} } };
  await client.messages.create({ ...body, ...more, output_config: { format }, metadata: { user_id: 'me' } });
  expect(server.engine.requests[0]).toMatchObject({
    maxTokens: 500,
    sampling: { temperature: 0.5, topP: 0.25, topK: 7 },
    grammar: { kind: 'jsonSchema' },
    fairnessKey: 'me',
  });
});

test('what Claude Code also sends that asks for nothing', async () => {
  const plain = { ...body, tools, system: [{ type: 'text', text: 'Be brief.' }] };
  const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
  const billed = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=36ee5;' };
  const withMore = {
    ...plain,
    system: [billed, ...plain.system],
    tools: tools.map((tool) => ({ ...tool, allowed_callers: ['direct'], defer_loading: false })),
    output_config: { effort: 'medium' },
    context_management,
  };
  for (const asked of [plain, withMore]) {
    const response = await server.post('/v1/messages?beta=true', asked, { 'anthropic-beta': 'a,b' });
    expect([response.status, lastPrompt()]).toEqual([200, 'system:Be brief.user:x2 tools!']);
  }
});

test('the tokens of a prompt are counted as they are generated from', async () => {
  await client.messages.create({ ...body, tools, system: 'Be brief.' });
  const counted = await client.messages.countTokens({
    model: 'tiny',
    messages: body.messages,
    tools,
    system: 'Be brief.',
  });
  expect(counted).toEqual({ input_tokens: server.engine.requests[0]!.prompt.length });
});

describe('an error is reported in the words of the protocol:', () => {
  const image = { type: 'image', source: { type: 'url', url: 'http://example.com/a.png' } };
  const toolUse = { type: 'tool_use', id: 'a', name: 'time', input: {} };
  test.each<[object, number, string, string | null, string]>([
    [{ surprise: 1 }, 400, 'invalid_request_error', 'surprise', 'surprise is not a known field'],
    [{ max_tokens: null }, 400, 'invalid_request_error', 'max_tokens', 'max_tokens is required'],
    [{ container: 'a' }, 400, 'invalid_request_error', 'container', 'container is not supported'],
    [
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      400,
      'invalid_request_error',
      'context_management',
      'context_management is not supported',
    ],
    [
      { output_config: { effort: 'none' } },
      400,
      'invalid_request_error',
      'output_config.effort',
      // In JSON, which the client's errors quote.
      'must be one of \\"low\\"',
    ],
    [
      { messages: [user([image as never])] },
      400,
      'invalid_request_error',
      'messages.0.content.0',
      'is an image, and the model reads text only',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      400,
      'invalid_request_error',
      'messages.0.content.0.text',
      'is required',
    ],
    [
      { messages: [{ role: 'user', content: [toolUse] }] },
      400,
      'invalid_request_error',
      'messages.0.content.0',
      'a message of the user has no tool_use block',
    ],
    [
      { messages: [{ role: 'assistant', content: [toolUse] }] },
      400,
      'invalid_request_error',
      'messages.0',
      'tool_result follows',
    ],
    [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      400,
      'invalid_request_error',
      'tools.0.input_schema',
      'tools.0.type must be \\"custom\\"',
    ],
    [
      { tools: tools.map((tool) => ({ ...tool, defer_loading: true })) },
      400,
      'invalid_request_error',
      'tools',
      'tools are all defer_loading',
    ],
    [
      {
        tools: [tools[0], { ...tools[1], defer_loading: true }],
        tool_choice: { type: 'tool', name: 'time' },
      },
      400,
      'invalid_request_error',
      'tool_choice',
      'tool_choice names time, which is defer_loading',
    ],
    [
      { tools: [{ name: 'a', strict: true, input_schema: { type: 'object', not: {} } }] },
      400,
      'invalid_request_error',
      'tools.0.input_schema.not',
      'tools.0.input_schema.not is not supported',
    ],
    [
      { max_tokens: 5000 },
      400,
      'invalid_request_error',
      'max_tokens',
      'input length and `max_tokens` exceed context limit: 7 + 5000 > 4096',
    ],
    [
      { messages: [user('x'.repeat(5000))] },
      400,
      'invalid_request_error',
      'messages',
      'prompt is too long: 5006 tokens > 4096 maximum',
    ],
    [{ model: 'other' }, 404, 'not_found_error', 'model', 'served: tiny, small'],
  ])('%j', async (change, status, type, param, message) => {
    const error = await client.messages.create({ ...body, ...change }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, type });
    const { requestID } = error as APIError;
    expect(requestID).toMatch(/^msg_/);
    expect((error as APIError).error).toMatchObject({ error: { param }, request_id: requestID });
    expect((error as APIError).message).toContain(message);
  });

  test('a long stop sequence', async () => {
    const response = await server.post('/v1/messages', { ...body, stop_sequences: ['x'.repeat(1025)] });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: 'stop_sequences.0 must NOT have more than 1024 characters' } },
    ]);
  });

  test('a key that is not known, a method that is not taken, a model that is not ready', async () => {
    const locked = await ScriptedServer.start({ access: { keys: { find: () => null } }, serving: false });
    const refused = await locked.post('/v1/messages/count_tokens', body);
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error', code: 'invalid_api_key' } },
    ]);
    await locked.stop();
    const loading = await ScriptedServer.start({ serving: false });
    expect(await (await loading.post('/openai/v1/messages', body)).json()).toMatchObject({
      error: { type: 'overloaded_error', code: 'model_not_ready' },
    });
    expect(await (await loading.get('/v1/messages')).json()).toMatchObject({
      type: 'error',
      error: { code: 'method_not_allowed' },
    });
    await loading.stop();
  });

  test.each([
    ['timeout_error', 'request_timeout'],
    ['conflict_error', 'request_cancelled'],
    ['request_too_large', 'request_too_large'],
  ] as const)('%s for %s', (type, code) => {
    expect(anthropicError(ApiError.of(code, 'why'), null)).toMatchObject({
      type: 'error',
      error: { type, code, message: 'why' },
      request_id: null,
    });
  });

  test('a failure behind the first event', async () => {
    server.script = function* () {
      yield output(byteIds('Hi'));
      throw new Error('secret');
    };
    const failed = await client.messages
      .stream(body)
      .finalMessage()
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      type: 'api_error',
      error: { request_id: expect.stringMatching(/^msg_/) },
    });
    expect((failed as APIError).message).not.toContain('secret');
  });
});
