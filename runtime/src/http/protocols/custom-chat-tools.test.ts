// OpenAI's custom tools on chat: the model calls a function with one text, the client a tool with an input.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { events } from '../answers.fixture.js';
import { callsPatchAndTime } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

const patch = { type: 'custom', custom: { name: 'patch', description: 'Edit a file.' } } as const;
const time = { type: 'function', function: { name: 'time', parameters: { type: 'object' } } } as const;
const tools = [patch, time];
const messages = [{ role: 'user' as const, content: 'x' }];

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
  server.script = callsPatchAndTime;
});
afterEach(() => server.stop());

const id = expect.stringMatching(/^call_/);
const calls = [
  { id, type: 'custom', custom: { name: 'patch', input: 'a\nb' } },
  { id, type: 'function', function: { name: 'time', arguments: '{"city": "Bern"}' } },
];

const prompt = (): string =>
  server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });

interface Piece {
  readonly index: number;
  readonly [member: string]: unknown;
}

/** Joins the strings of a stream's pieces, as clients do. */
function join(whole: Record<string, unknown>, piece: object): Record<string, unknown> {
  for (const [name, value] of Object.entries(piece)) {
    const before = whole[name];
    if (value === undefined) continue;
    if (typeof value === 'object')
      whole[name] = join((before ?? {}) as Record<string, unknown>, value as object);
    else whole[name] = typeof before === 'string' ? before + String(value) : value;
  }
  return whole;
}

test('a call has its input', async () => {
  const { choices } = await client.chat.completions.create({ model: 'tiny', messages, tools });
  expect(choices[0]!.finish_reason).toBe('tool_calls');
  expect(choices[0]!.message.tool_calls).toEqual(calls);
});

test('a stream has it in pieces, of each choice', async () => {
  const chunks = await events(await server.chat({ messages, tools, n: 2, stream: true }));
  for (const choice of [0, 1]) {
    const pieces = chunks
      .flatMap(({ choices }) => choices.filter(({ index }) => index === choice))
      .flatMap(({ delta }) => (delta.tool_calls ?? []) as unknown as Piece[]);
    const joined = [0, 1].map((at) =>
      pieces
        .filter(({ index }) => index === at)
        .reduce((whole, piece) => join(whole, { ...piece, index: undefined }), {}),
    );
    expect(joined).toEqual(calls);
    expect(pieces.filter(({ custom }) => custom !== undefined).length).toBeGreaterThan(2);
  }
});

test('the template shows a function with one text, and the model its own calls', async () => {
  const { choices } = await client.chat.completions.create({ model: 'tiny', messages, tools });
  const { message } = choices[0]!;
  const results = message.tool_calls!.map(
    (call) => ({ role: 'tool', tool_call_id: call.id, content: 'done' }) as const,
  );
  await client.chat.completions.create({
    model: 'tiny',
    messages: [...messages, message, ...results],
    tools,
  });
  expect(prompt()).toContain('[patch {"input": "a\\nb"}][time {"city": "Bern"}]');
  expect(prompt()).toContain('2 tools');
});

test('the prompt of a described tool has its schema', async () => {
  const described = await ScriptedServer.start({ tools: 'described' });
  const response = await described.post('/apply-template', { messages, tools: [patch] });
  const { prompt: text } = (await response.json()) as { readonly prompt: string };
  expect(text).toContain(
    '{"type": "function", "function": {"name": "patch", "description": "Edit a file.", "parameters": {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]',
  );
  await described.stop();
});

describe.each<OpenAI.ChatCompletionToolChoiceOption>([
  { type: 'custom', custom: { name: 'patch' } },
  {
    type: 'allowed_tools',
    allowed_tools: { mode: 'required', tools: [{ type: 'custom', custom: { name: 'patch' } }] },
  },
])('%j', (tool_choice) => {
  test.each([true, false])('holds the call to a text, streamed: %s', async (stream) => {
    await (await server.chat({ messages, tools, tool_choice, stream })).text();
    const grammar = JSON.stringify(server.engine.requests[0]!.grammar);
    expect(grammar).toContain('patch');
    expect(grammar).toContain('input');
    expect(grammar).not.toContain('time');
  });
});

const regex = { syntax: 'regex', definition: '(add|drop) [a-z]+' } as const;
const held = (grammar: object): object => ({
  type: 'custom',
  custom: { ...patch.custom, format: { type: 'grammar', grammar } },
});

test.each([true, false])('an input follows a regular expression, streamed: %s', async (stream) => {
  const answer = await server.chat({ messages, tools: [held(regex), time], stream });
  expect(answer.status).toBe(200);
  await answer.text();
  const grammar = server.engine.requests[0]!.grammar!;
  expect(grammar.kind).toBe('toolCalls');
  expect(grammar.text).toContain('"pattern"');
  expect(prompt()).toContain('2 tools');
});

test.each<[grammar: object, message: string]>([
  [{ ...regex, syntax: 'lark' }, 'tools.1.custom.format.grammar.syntax is not supported with this value'],
  [{ syntax: 'regex' }, 'tools.1.custom.format.grammar.definition is required'],
  [{ ...regex, definition: 'a\\bc' }, 'tools.1.custom.format.grammar.definition looks around'],
])('refuses the grammar %j', async (grammar, message) => {
  const answer = await server.chat({ messages, tools: [time, held(grammar)] });
  const { error } = (await answer.json()) as { error: { message: string } };
  expect([answer.status, error.message]).toEqual([400, expect.stringContaining(message)]);
});
