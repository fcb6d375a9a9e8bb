// OpenAI's custom tools in Responses: the model calls a function with one text, the client a tool with an input.

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type OpenAI from 'openai';
import { callsPatchAndTime } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { body, responsesClient, tools as functions } from './responses.fixture.js';

const patch = { type: 'custom', name: 'patch', description: 'Edit a file.' } as const;
const tools = [patch, ...functions];

let server: ScriptedServer;
let client: OpenAI;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: true });
  client = responsesClient(server);
  server.script = callsPatchAndTime;
});
afterEach(() => server.stop());

const expected = [
  {
    id: expect.stringMatching(/^ctc_/),
    type: 'custom_tool_call',
    call_id: expect.stringMatching(/^call_/),
    name: 'patch',
    input: 'a\nb',
  },
  { type: 'function_call', name: 'time', arguments: '{"city": "Bern"}' },
];

test.each([true, false])('a call has its input, streamed: %s', async (stream) => {
  const asked = { ...body, tools };
  const response = stream
    ? await client.responses.stream(asked).finalResponse()
    : await client.responses.create(asked);
  expect(response.output).toMatchObject(expected);
  expect(response.tools[0]).toEqual(patch);
});

test('a stream has it in pieces, and whole at its end', async () => {
  const [pieces, done]: [string[], string[]] = [[], []];
  for await (const event of await client.responses.create({ ...body, tools, stream: true })) {
    if (event.type === 'response.custom_tool_call_input.delta') pieces.push(event.delta);
    if (event.type === 'response.custom_tool_call_input.done') done.push(event.input);
  }
  expect(pieces.length).toBeGreaterThan(1);
  expect([pieces.join(''), done]).toEqual(['a\nb', ['a\nb']]);
});

test('calls and their outputs come back as the model knows them', async () => {
  const { output } = await client.responses.create({ ...body, tools });
  const call = output.find(
    ({ type }) => type === 'custom_tool_call',
  ) as OpenAI.Responses.ResponseCustomToolCall;
  const { call_id } = call;
  const result = { type: 'custom_tool_call_output' as const, call_id, output: 'done' };
  await client.responses.create({ ...body, tools, input: [{ role: 'user', content: 'x' }, call, result] });
  const prompt = server.tokenizer.decode(server.engine.requests.at(-1)!.prompt, { skipSpecialTokens: false });
  expect(prompt).toContain('user:xassistant:');
  expect(prompt).toContain(':done');
});

test.each<OpenAI.Responses.ResponseCreateParams['tool_choice']>([
  { type: 'custom', name: 'patch' },
  { type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'patch' }] },
])('%j holds the call to a text', async (tool_choice) => {
  await client.responses.create({ ...body, tools, tool_choice: tool_choice! });
  const grammar = JSON.stringify(server.engine.requests[0]!.grammar);
  expect(grammar).toContain('patch');
  expect(grammar).not.toContain('weather');
});

const expression = '(add|drop) [a-z]+';
const regex = { type: 'grammar', syntax: 'regex', definition: expression } as const;

test.each([true, false])('an input follows a regular expression, streamed: %s', async (stream) => {
  const held = [{ ...patch, format: regex }, ...functions];
  const asked = { ...body, tools: held };
  const response = stream
    ? await client.responses.stream(asked).finalResponse()
    : await client.responses.create(asked);
  expect(response.output).toMatchObject(expected);
  expect(response.tools[0]).toEqual(held[0]);
  const { kind, text } = server.engine.requests[0]!.grammar!;
  expect(kind).toBe('toolCalls');
  const [{ input }] = inputsIn(JSON.parse(text)) as [{ input: { pattern: string } }];
  expect(input.pattern).toMatch(/^\^.*\[d\].*\$$/);
});

/** What schemas within a grammar say of arguments that have an input. */
function inputsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as { readonly properties?: object };
  const own = properties !== undefined && 'input' in properties ? [properties] : [];
  return [...own, ...Object.values(value).flatMap(inputsIn)];
}

test.each<[format: object, message: string]>([
  [
    { ...regex, syntax: 'lark' },
    'tools.2.format.syntax is not supported with this value: send the grammar as',
  ],
  [{ type: 'grammar', syntax: 'regex' }, 'tools.2.format.definition is required'],
  [{ type: 'text', definition: 'a' }, 'tools.2.format.definition is not supported with this value: send it'],
  [{ ...regex, definition: 'a(?=b)c' }, 'tools.2.format.definition looks around'],
  [{ ...regex, definition: '(a' }, 'tools.2.format.definition cannot be read'],
])('refuses the format %j', async (format, message) => {
  const answer = await server.post('/v1/responses', { ...body, tools: [...functions, { ...patch, format }] });
  const { error } = (await answer.json()) as { error: { message: string } };
  expect([answer.status, error.message]).toEqual([400, expect.stringContaining(message)]);
});
