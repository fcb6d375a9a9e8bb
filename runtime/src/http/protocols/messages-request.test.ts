// What the model and the engine get of a request of Anthropic's Messages.

import type Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { noDefaults as defaults } from '../../request/fields/generation-defaults.fixture.js';
import { parseMessages } from '../../request/parse/parse-messages.js';
import { thinksAndCalls } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, input_schema, messagesClient, tools, user } from './messages.fixture.js';

let server: ScriptedServer;
let client: Anthropic;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = messagesClient(server);
});
afterEach(() => server.stop());

const lastPrompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

describe('the model is given', () => {
  test('numbers of earlier calls as it wrote them', async () => {
    const input = '{"id":12345678901234567890,"of":[1.0,-0.0,1e5,{"n":1.50}],"text":"1.0","whole":7}';
    const sent = JSON.stringify({
      ...body,
      tools,
      messages: [
        user('Weather? 2.0'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: {} }] },
        user([{ type: 'tool_result', tool_use_id: 'call_1', content: 'rain' }]),
      ],
    }).replace('"input":{}', () => `"input":${input}`);
    expect((await server.post('/v1/messages', sent)).status).toBe(200);
    expect(lastPrompt().replaceAll(' ', '')).toContain(`[weather${input}]`);
  });

  test('what tools of Anthropic’s servers did as it came, and no redacted thinking', async () => {
    const found = [{ type: 'web_search_result', title: 'Bern', url: 'a', encrypted_content: 'x' }];
    const content = [
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'text', text: 'I search.' },
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'Bern' } },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: found, cache_control: null },
      { type: 'text', text: 'Found.' },
    ];
    const messages = [user('a'), { role: 'assistant', content }, user('b')];
    const answer = await server.post('/v1/messages', { ...body, messages });
    expect(answer.status).toBe(200);
    expect(lastPrompt()).toBe(
      'user:aassistant:I search.\n' +
        '{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"Bern"}}\n\n' +
        '{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"Bern","url":"a"}]}\n' +
        'Found.user:b!',
    );
    const ofUser = await server.post('/v1/messages', { ...body, messages: [{ role: 'user', content }] });
    expect(await ofUser.json()).toMatchObject({ error: { param: 'messages.0.content.0' } });
  });

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
