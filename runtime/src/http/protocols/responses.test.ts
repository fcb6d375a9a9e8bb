// OpenAI's Responses, read by OpenAI's own client: streamed with its helper, and whole.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI, { APIError } from 'openai';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { byteIds, output } from '../scripted-engine.fixture.js';
import { ApiError } from '../../request/body/api-error.js';
import { parseResponses } from '../../request/parse/parse-responses.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { responsesProtocol } from './responses-protocol.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterEach(() => server.stop());

const body = { model: 'tiny', input: 'x' };
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  name,
  parameters,
  strict: false,
}));

const defaults = { sampling: {}, eosIds: [] };

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

describe('a response', () => {
  test.each([true, false])('has reasoning, text and calls, streamed: %s', async (stream) => {
    server.script = thinksAndCalls;
    const asked = { ...body, tools, max_output_tokens: 500 };
    const response = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked);
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'tiny',
      output_text: 'I look.',
      max_output_tokens: 500,
      store: false,
      output: [
        {
          id: expect.stringMatching(/^rs_/),
          type: 'reasoning',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'Which city?' }],
          status: 'completed',
        },
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
          status: 'completed',
        },
        {
          id: expect.stringMatching(/^fc_/),
          type: 'function_call',
          call_id: expect.stringMatching(/^call_/),
          name: 'weather',
          arguments: '{"city": "Zürich"}',
          status: 'completed',
        },
        { type: 'function_call', name: 'time', arguments: '{"city": "Bern"}' },
      ],
    });
    const { usage } = response;
    expect(usage).toMatchObject({
      input_tokens: server.engine.requests[0]!.prompt.length,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens_details: { reasoning_tokens: 'Which city?'.length + 1 },
    });
    expect(usage!.total_tokens).toBe(usage!.input_tokens + usage!.output_tokens);
  });

  test('is sent as numbered events, each item added, grown and done', async () => {
    server.script = thinksAndCalls;
    const events = [];
    for await (const event of await client.responses.create({ ...body, tools, stream: true }))
      events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    const spoken = (name: string): string[] => [
      'output_item.added',
      'content_part.added',
      `${name}.delta`,
      `${name}.done`,
      'content_part.done',
      'output_item.done',
    ];
    const called = spoken('function_call_arguments').filter((type) => !type.startsWith('content_part'));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      'created',
      'in_progress',
      ...spoken('reasoning_text'),
      ...spoken('output_text'),
      ...called,
      ...called,
      'completed',
    ]);
    expect(events[0]).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } });
  });

  test.each([true, false])('is incomplete where the tokens end, streamed: %s', async (stream) => {
    server.script = () => [output(byteIds('Hi')), output([], 'length')];
    const response = stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ type: 'message', status: 'incomplete' }],
    });
  });

  test('that fails on its way says so', async () => {
    server.script = function* () {
      yield output(byteIds('Hi'));
      throw new Error('secret');
    };
    const response = await client.responses.stream(body).finalResponse();
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: expect.not.stringContaining('secret') },
      output_text: 'Hi',
    });
  });

  test('that fails before its first token begins all the same', async () => {
    const { writer } = responsesProtocol.read(body, defaults, 0n);
    const head = { id: 'resp_1', created: 1, model: 'tiny' };
    const failure = writer(head, server.tokenizer).failure(ApiError.of('queue_full', 'full'));
    const stream = new Response(failure.join(''), { headers: { 'content-type': 'text/event-stream' } });
    const reader = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: () => Promise.resolve(stream) });
    expect(await reader.responses.stream(body).finalResponse()).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'full', llmservice_code: 'queue_full' },
    });
  });

  test('may be nothing at all', async () => {
    server.script = scriptOf();
    expect(await client.responses.create(body)).toMatchObject({ status: 'completed', output: [] });
  });
});

describe('the model is given', () => {
  test('the items of earlier answers as its template has them', async () => {
    server.script = thinksAndCalls;
    const { output: answered } = await client.responses.create({ ...body, tools });
    const results = answered.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: `${item.name} of it` }]
        : [],
    );
    await client.responses.create({
      ...body,
      instructions: 'Be brief.',
      tools,
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'x' }] },
        ...(answered as OpenAI.Responses.ResponseInputItem[]),
        ...results,
      ],
    });
    expect(lastPrompt().replace(/call_[0-9a-f]+/g, 'ID')).toBe(
      'system:Be brief.user:xassistant:I look.[weather {"city": "Zürich"}][time {"city": "Bern"}]' +
        'tool(ID):weather of ittool(ID):time of it2 tools',
    );
  });

  test.each([
    ['its text', { encrypted_content: null }],
    ['what stands for it', { content: null }],
  ])('earlier reasoning, of which the client sends back %s', async (_, lost) => {
    server.script = thinksAndCalls;
    const include = ['reasoning.encrypted_content' as const];
    const whole = await client.responses.create({ ...body, tools, include });
    const streamed = await client.responses.stream({ ...body, tools, include }).finalResponse();
    for (const { output } of [whole, streamed]) {
      const input = output.map((item) => (item.type === 'reasoning' ? { ...item, ...lost } : item));
      expect(parseResponses({ input }, defaults, 0n).parsed.prompts).toMatchObject([
        { messages: [{ content: 'I look.', reasoning_content: 'Which city?' }] },
      ]);
    }
  });

  test('what Codex and others also send that asks for nothing', async () => {
    const plain = { ...body, tools };
    const withMore = {
      ...plain,
      tools: tools.map((tool) => ({ ...tool, allowed_callers: ['direct'], defer_loading: false })),
      client_metadata: { 'x-codex-installation-id': 'a' },
      reasoning: { effort: null, summary: 'detailed' },
      include: [],
      store: false,
    };
    for (const asked of [plain, withMore]) {
      const { status } = await server.post('/v1/responses', asked);
      expect([status, lastPrompt()]).toEqual([200, 'user:x2 tools']);
    }
  });

  test('no reasoning where the client made a summary of none', async () => {
    const summary = [{ type: 'summary_text' as const, text: '' }];
    await client.responses.create({ ...body, input: [{ type: 'reasoning', id: 'rs_1', summary }] });
    expect(lastPrompt()).toBe('assistant:');
  });

  test('a refusal as the text that it is', async () => {
    const refusal = { type: 'refusal' as const, refusal: 'I may not.' };
    const refused = { role: 'assistant' as const, content: [refusal], type: 'message' as const };
    const items = [
      { role: 'user' as const, content: 'x' },
      { ...refused, id: 'msg_1', status: 'completed' as const },
    ];
    await client.responses.create({ ...body, input: items });
    expect(lastPrompt()).toBe('user:xassistant:I may not.');
  });

  test.each([
    ['none', 'user:x!'],
    ['low', 'user:x'],
    ['xhigh', 'user:x'],
    ['max', 'user:x'],
  ] as const)('room to think with effort %s', async (effort, prompt) => {
    await client.responses.create({ ...body, reasoning: { effort } });
    expect(lastPrompt()).toBe(prompt);
  });
});

test.each([true, false])(
  'functions in a namespace are called by both names, streamed: %s',
  async (stream) => {
    const { begin, end } = ScriptedServer.markers;
    server.script = scriptOf(begin, '{"name": "mcp__clock__time", "arguments": {"city": "Bern"}}', end);
    const clock = {
      type: 'namespace' as const,
      name: 'mcp__clock',
      description: 'Clocks.',
      tools: [tools[1]!],
    };
    const asked = { ...body, tools: [tools[0]!, clock] };
    const { output } = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked);
    const call = {
      type: 'function_call',
      namespace: 'mcp__clock',
      name: 'time',
      arguments: '{"city": "Bern"}',
    };
    expect(output).toMatchObject([call]);
    await client.responses.create({ ...asked, input: output as OpenAI.Responses.ResponseInput });
    expect(lastPrompt()).toBe('assistant:[mcp__clock__time {"city": "Bern"}]2 tools');
    const { given } = parseResponses(asked, defaults, 0n).parsed.tools!;
    expect(given[1]).toMatchObject({ function: { name: 'mcp__clock__time', description: 'Clocks.' } });
  },
);

test.each([
  ['required' as const, { many: true }],
  [{ type: 'function' as const, name: 'time' }, { many: false }],
])('tool_choice %j holds the answer to calls', async (tool_choice, grammar) => {
  await client.responses.create({ ...body, tools, tool_choice });
  expect(JSON.parse(server.engine.requests[0]!.grammar!.text)).toMatchObject({ otherwise: null, ...grammar });
});

test('sampling, structured output and the user reach the engine', async () => {
  const owner = { user: 'me' };
  const format = { type: 'json_schema' as const, name: 'a', schema: { type: 'object', properties: {} } };
  await client.responses.create({
    ...body,
    temperature: 0.5,
    top_p: 0.25,
    max_output_tokens: 9,
    text: { format },
    ...owner,
  });
  expect(server.engine.requests[0]).toMatchObject({
    maxTokens: 9,
    sampling: { temperature: 0.5, topP: 0.25 },
    grammar: { kind: 'jsonSchema' },
    fairnessKey: 'me',
  });
});

test('the format of a text that is to have none, and a tool that says little, are reported in full', async () => {
  const asked = { ...body, text: { format: null }, tools: [{ type: 'function', name: 'time' }] };
  const answer = await server.post('/v1/responses', asked);
  expect(await answer.json()).toMatchObject({
    text: { format: { type: 'text' } },
    tools: [{ type: 'function', name: 'time', description: null, parameters: null, strict: false }],
  });
});

test('what is asked to be stored is answered, and marked as not stored', async () => {
  expect(await client.responses.create({ ...body, store: true })).toMatchObject({
    status: 'completed',
    store: false,
  });
});

test.each<[object, string, string]>([
  [{ surprise: 1 }, 'surprise', 'surprise is not a known field'],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'nothing is stored here'],
  [{ background: true }, 'background', 'nothing is stored here'],
  [{ truncation: 'auto' }, 'truncation', 'truncation is not supported'],
  [
    { include: ['message.output_text.logprobs'] },
    'include.0',
    'include.0 must be "reasoning.encrypted_content"',
  ],
  [
    { tool_choice: { type: 'allowed_tools' } },
    'tool_choice',
    'tool_choice must be "none", "auto", "required" or {"type": "function", "name"',
  ],
  [
    { tools: [{ type: 'web_search', external_web_access: false }] },
    'tools.0.name',
    'tools.0.type must be one of "function", "namespace"',
  ],
  [
    { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'custom', name: 'b' }] }] },
    'tools.0.tools.0.type',
    'must be "function"',
  ],
  [
    {
      tools: [
        { type: 'function', name: 'time' },
        {
          type: 'namespace',
          name: 'a',
          tools: [{ type: 'function', name: 'b', strict: true, parameters: { not: {} } }],
        },
      ],
    },
    'tools.1.tools.0.parameters.not',
    'tools.1.tools.0.parameters.not is not supported',
  ],
  [
    {
      tools: ['a', 'b'].map((name) => ({
        type: 'namespace',
        name,
        tools: Array.from({ length: 65 }, (_, index) => ({ type: 'function', name: `f${String(index)}` })),
      })),
    },
    'tools',
    'tools has 130 functions; the most are 128',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'a' }] }] },
    'input.0.content.0',
    'is an image, and the model reads text only',
  ],
  [{ input: [{ type: 'function_call', name: 'a' }] }, 'input.0.call_id', 'input.0.arguments is required'],
  [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0.type', 'nothing is stored here'],
  [
    { input: [{ role: 'assistant', content: [{ type: 'refusal' }] }] },
    'input.0.content.0.refusal',
    'is required',
  ],
  [{ input: [{ content: 'x' }] }, 'input.0.role', 'is required'],
  [
    { input: [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'x' }] }] },
    'input.0.summary.0.text',
    'send the reasoning itself as content',
  ],
  [
    { input: [{ type: 'reasoning', summary: [], content: [], encrypted_content: 'x' }] },
    'input.0.encrypted_content',
    'send the reasoning itself as content',
  ],
  [{ max_output_tokens: 5000 }, 'max_output_tokens', 'max_output_tokens asks for 5000 more'],
  [{ input: 'x'.repeat(5000) }, 'input', 'but the context is'],
  [
    { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object', not: {} } } } },
    'text.format.schema.not',
    'text.format.schema.not is not supported',
  ],
  [
    { text: { format: { type: 'json_object', schema: { not: {} } } } },
    'text.format.schema.not',
    'text.format.schema.not is not supported',
  ],
  [
    { text: { format: { type: 'text', schema: {} } } },
    'text.format.schema',
    'send it with type: json_schema',
  ],
])('%j is refused', async (change, param, message) => {
  const error = await client.responses
    .create({ ...body, ...change } as OpenAI.Responses.ResponseCreateParams)
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(APIError);
  const requestID = expect.stringMatching(/^resp_/);
  expect(error).toMatchObject({ status: 400, code: expect.any(String), param, requestID });
  expect((error as APIError).message).toContain(message);
});
