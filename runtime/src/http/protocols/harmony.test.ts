// Answers in the channels of OpenAI's Harmony format: the same in every protocol, streamed or not.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { harmonyTexts, harmonyTokens, type HarmonyTokens } from '../../harmony/harmony-tokens.js';
import { events, json } from '../answers.fixture.js';
import { byteIds, output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { protocols } from './whole-answer.fixture.js';

let server: ScriptedServer;
let tokens: HarmonyTokens;
beforeEach(async () => {
  server = await ScriptedServer.start({ tools: 'harmony' });
  tokens = harmonyTokens(server.tokenizer)!;
});
afterEach(() => server.stop());

/** An answer whose letters of markers are the markers; each part is a step of its own. */
function answering(text: string, finish: 'stop' | 'length' = 'stop'): Script {
  const steps = text.split(/(<\|\w+\|>)/).flatMap((part): (string | number)[] => {
    const mark = Object.entries(harmonyTexts).find(([, spelled]) => spelled === part)?.[0];
    if (mark !== undefined) return [tokens[mark as keyof HarmonyTokens]];
    return [part.slice(0, 3), part.slice(3)].filter((piece) => piece !== '');
  });
  return function* () {
    for (const step of steps) yield output(typeof step === 'string' ? byteIds(step) : [step]);
    yield { ...output([]), finish, stopToken: finish === 'stop' ? tokens.call : null };
  };
}

const thinks = '<|channel|>analysis<|message|>Which city?<|end|><|start|>assistant';
const explains = '<|channel|>commentary<|message|>I look.<|end|><|start|>assistant';
const calls = '<|channel|>commentary to=functions.time <|constrain|>json<|message|>{"city": "Bern"}';
const answers = '<|channel|>final<|message|>It is five.';

const all = Object.keys(protocols) as (keyof typeof protocols)[];
const both = all.flatMap((protocol) => [true, false].map((stream) => [protocol, stream] as const));
const withCalls = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' } as const;
const withText = { chat: 'stop', responses: 'completed', messages: 'end_turn' } as const;

test.each(both)('calls are read in %s, streamed: %s', async (protocol, stream) => {
  server.script = answering(thinks + explains + calls);
  expect(await protocols[protocol](server, stream, 'auto')).toEqual({
    text: 'I look.',
    calls: ['time {"city":"Bern"}'],
    ended: withCalls[protocol],
  });
});

test.each(both)('answers are read in %s, streamed: %s', async (protocol, stream) => {
  server.script = answering(thinks + answers);
  expect(await protocols[protocol](server, stream, 'auto')).toEqual({
    text: 'It is five.',
    calls: [],
    ended: withText[protocol],
  });
});

const tools = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}));

describe('thoughts', () => {
  test('are reasoning, whole and streamed, and counted', async () => {
    server.script = answering(thinks + answers);
    const whole = await json(await server.chat({ tools }));
    expect(whole.choices[0]).toMatchObject({
      message: { reasoning_content: 'Which city?', reasoning: 'Which city?', content: 'It is five.' },
    });
    // Its eleven bytes, and the token that ends it.
    expect(whole).toMatchObject({ usage: { completion_tokens_details: { reasoning_tokens: 12 } } });
    const chunks = await events(await server.chat({ tools, stream: true }));
    const thought = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.reasoning ?? ''));
    expect(thought.join('')).toBe('Which city?');
  });

  test('are items and blocks of their own in Responses and Messages', async () => {
    server.script = answering(thinks + answers);
    const response = await server.post('/v1/responses', { model: 'tiny', input: 'x' });
    expect(await response.json()).toMatchObject({
      output: [
        { type: 'reasoning', content: [{ text: 'Which city?' }] },
        { type: 'message', content: [{ text: 'It is five.' }] },
      ],
    });
    const messages = [{ role: 'user', content: 'x' }];
    const message = await server.post('/v1/messages', { model: 'tiny', max_tokens: 99, messages });
    expect(await message.json()).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Which city?' },
        { type: 'text', text: 'It is five.' },
      ],
    });
  });

  test('of earlier turns and how long to think reach the template', async () => {
    const messages = [
      { role: 'assistant', reasoning_content: 'Hm.', content: 'y' },
      { role: 'user', content: 'z' },
    ];
    const response = await server.post('/apply-template', { messages, reasoning_effort: 'high' });
    expect(await response.json()).toEqual({
      prompt:
        '<|start|>system<|message|>high<|end|><|start|>assistant<|message|>Hm.y<|end|>' +
        '<|start|>user<|message|>z<|end|><|start|>assistant',
    });
  });
});

test('the answer is text where no tools may be called', async () => {
  server.script = answering(calls);
  for (const body of [{}, { tools, tool_choice: 'none' }])
    expect((await json(await server.chat(body))).choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: '{"city": "Bern"}' },
    });
});

test('a call that a limit cuts is one, and says so', async () => {
  server.script = answering(calls.slice(0, -6), 'length');
  expect((await json(await server.chat({ tools }))).choices[0]).toMatchObject({
    finish_reason: 'length',
    message: { tool_calls: [{ function: { name: 'time', arguments: '{"city": "' } }] },
  });
});

test.each<[object, string]>([
  [{ chat_template_kwargs: { builtin_tools: ['browser'] } }, 'browser, which this server does not run'],
  [{ reasoning_effort: 'minimal' }, 'send low, medium, high'],
])('%j is refused', async (body, message) => {
  const response = await server.chat(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
});

describe('the engine is asked for', () => {
  const bodyOf = async (body: object): Promise<unknown> => {
    await server.chat(body);
    const { grammar } = server.engine.requests.at(-1)!;
    if (grammar === null) return null;
    expect(grammar).toMatchObject({ kind: 'toolCalls', after: null });
    const text = JSON.parse(grammar.text) as { readonly body: { readonly elements: unknown[] } };
    expect(text).toMatchObject({ begin: null, end: null, otherwise: null });
    expect(text.body.elements[0]).toMatchObject({ type: 'star' });
    return text.body.elements[1];
  };
  const header = (text: string): unknown => ({ type: 'const_string', value: text });
  const callOf = (name: string): unknown => ({
    type: 'sequence',
    elements: [
      header(`\u0007commentary to=functions.${name} \u001bjson\b`),
      expect.objectContaining({ type: 'json_schema', style: 'json' }),
    ],
  });
  const answerOf = (content: object): unknown => ({
    type: 'sequence',
    elements: [header('\u0007final\b'), expect.objectContaining(content)],
  });

  test('anything where the model decides', async () => {
    expect(await bodyOf({ tools })).toBeNull();
    expect(await bodyOf({})).toBeNull();
  });

  test('a call of any tool, or of the one that is named', async () => {
    expect(await bodyOf({ tools, tool_choice: 'required' })).toEqual({
      type: 'or',
      elements: [callOf('weather'), callOf('time')],
    });
    const tool_choice = { type: 'function', function: { name: 'time' } };
    expect(await bodyOf({ tools, tool_choice })).toEqual(callOf('time'));
  });

  test('calls by their schemas, or an answer, where a tool is strict', async () => {
    const strict = [{ type: 'function', function: { ...tools[1]!.function, strict: true } }];
    expect(await bodyOf({ tools: strict })).toEqual({
      type: 'or',
      elements: [callOf('time'), answerOf({ type: 'grammar' })],
    });
  });

  test('a format of the last channel alone', async () => {
    const response_format = { type: 'json_object' };
    expect(await bodyOf({ response_format })).toEqual(answerOf({ type: 'json_schema' }));
    expect(await bodyOf({ response_format, tools })).toMatchObject({ type: 'or' });
  });

  test('to stop where a call or the answer ends', async () => {
    await server.chat({ tools });
    const { stopTokens } = server.engine.requests.at(-1)!;
    expect([...stopTokens].sort()).toEqual([tokens.return, tokens.call].sort());
  });
});
