// What the model and the engine get of a request of OpenAI's Responses.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { parseResponses } from '../../request/parse/parse-responses.js';
import { scriptOf, thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, defaults, responsesClient, tools } from './responses.fixture.js';

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = responsesClient(server);
});
afterEach(() => server.stop());

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

describe('the model is given', () => {
  test('the variables of its chat template', async () => {
    for (const enable_thinking of [true, false]) {
      await server.post('/v1/responses', { ...body, chat_template_kwargs: { enable_thinking } });
      expect(lastPrompt()).toBe(enable_thinking ? 'user:x' : 'user:x!');
    }
  });

  test('the items of earlier answers as its template has them', async () => {
    server.script = thinksAndCalls;
    const { output: answered } = await client.responses.create({ ...body, tools });
    // As clients write what is not there.
    const unsaid = { id: null, name: null, namespace: null, caller: null, status: null };
    const results = answered.flatMap((item) =>
      item.type === 'function_call'
        ? [
            {
              ...unsaid,
              type: 'function_call_output' as const,
              call_id: item.call_id,
              output: `${item.name} of it`,
            },
          ]
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
      tools: tools.map((tool) => ({
        ...tool,
        allowed_callers: ['direct'],
        defer_loading: false,
        async: false,
      })),
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

test('what vLLM’s Responses take beside OpenAI’s reaches the engine', async () => {
  const penalties = { presence_penalty: 0.5, frequency_penalty: 0.25, repetition_penalty: 1.5 };
  const tokens = { logit_bias: { 65: -100 }, stop_token_ids: [7], ignore_eos: true };
  const asked = { ...body, ...penalties, ...tokens, stop: 'é', include_stop_str_in_output: true };
  const response = await server.post('/v1/responses', asked);
  expect(await response.json()).toMatchObject({
    status: 'completed',
    output: [{ content: [{ text: 'Hi é' }] }],
  });
  const { sampling, rules, stopTokens } = server.engine.requests[0]!;
  expect(sampling).toMatchObject({ presencePenalty: 0.5, frequencyPenalty: 0.25, repetitionPenalty: 1.5 });
  expect([[...rules!.biased], [...stopTokens]]).toEqual([[65], [7]]);
});

test('a prompt is counted without an answer, by OpenAI’s own client', async () => {
  const asked = { model: 'tiny', input: 'hello', instructions: 'Be brief.', tools };
  expect(await client.responses.inputTokens.count(asked)).toEqual({
    object: 'response.input_tokens',
    input_tokens: expect.any(Number),
  });
  expect(server.engine.requests).toEqual([]);
  const { input_tokens: counted } = await client.responses.inputTokens.count(asked);
  const { usage } = await client.responses.create(asked);
  expect(counted).toBe(usage!.input_tokens);
});
