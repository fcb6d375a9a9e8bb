// Calls of tools that a request requires, asked of whole replicas by OpenAI's own client: always there, always of the
// tools' schemas, whichever way the checkpoint writes calls. The demo model knows nothing of tools, and is sampled hot.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(180_000);

const plainTemplate =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}" +
  "{{ '<|im_start|>assistant\\n' }}";
/** @param calls how they begin */
const about = (calls: string): string => `{% if tools %}{{ tools | tojson }} ${calls}…{% endif %}`;
const words = {
  json: about('<tool_call>{"name": '),
  xml: about('<tool_call><function='),
  glm: about('<tool_call>NAME\n<arg_key>'),
  invoke: about('<minimax:tool_call>\n<invoke name="'),
  list: about('[TOOL_CALLS][{"name": '),
  ended: about('<TOOLCALL>[{"name": '),
  alone: about('\n[{"name": "NAME", "arguments": '),
  names: about('[TOOL_CALLS]NAME[ARGS]'),
  functions: about('<function=NAME>{'),
  pairs: about('<|tool_call>call:NAME{'),
  bare: about('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{'),
  fences: about('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\n'),
};

/** Those that stand in the place of the tokens around reasoning. */
type Markers = readonly [string, string];
const qwen: Markers = ['<tool_call>', '</tool_call>'];
const mistral: Markers = ['[TOOL_CALLS]', '[ARGS]'];

/**
 * The demo model with a template that knows tools.
 * @param markers its tokens for calls; null: it has none
 */
function checkpoint(dir: string, words: string, markers: Markers | null): string {
  cpSync(demoCheckpoint, dir, { recursive: true });
  const edit = (file: string, change: (text: string) => string): void =>
    writeFileSync(join(dir, file), change(readFileSync(join(dir, file), 'utf8')));
  if (markers !== null)
    edit('tokenizer.json', (text) =>
      text.replaceAll('<think>', markers[0]).replaceAll('</think>', markers[1]),
    );
  edit('tokenizer_config.json', (text) => {
    const config = JSON.parse(text) as object;
    return JSON.stringify({ ...config, chat_template: words + plainTemplate });
  });
  return dir;
}

const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 12 },
    days: { type: 'integer', minimum: 1, maximum: 9 },
    unit: { enum: ['celsius', 'kelvin'] },
    place: {
      type: 'object',
      properties: { x: { type: 'integer', minimum: 0, maximum: 99 } },
      required: ['x'],
    },
  },
  required: ['city', 'days', 'unit', 'place'],
  additionalProperties: false,
};
const tools = [
  { type: 'function' as const, function: { name: 'weather', parameters } },
  { type: 'function' as const, function: { name: 'ping' } },
];
const messages = [{ role: 'user' as const, content: 'What is a pod?' }];

interface Weather {
  readonly city: string;
  readonly days: number;
  readonly unit: string;
  readonly place: { readonly x: number };
}

function expectCall(call: OpenAI.ChatCompletionMessageToolCall): void {
  if (call.type !== 'function') throw new Error(`a call of type ${call.type}`);
  const { name, arguments: text } = call.function;
  const given = JSON.parse(text) as Weather;
  if (name === 'ping') {
    expect(given).toEqual({});
    return;
  }
  expect(name).toBe('weather');
  expect(Object.keys(given)).toEqual(['city', 'days', 'unit', 'place']);
  // Bytes that are no UTF-8, which the demo model says when it is hot, show as several U+FFFD for one character.
  const city = given.city.replaceAll(/\ufffd+/g, '?');
  expect(Array.from(city).length).toBeLessThanOrEqual(12);
  expect(Number.isInteger(given.days) && given.days >= 1 && given.days <= 9).toBe(true);
  expect(['celsius', 'kelvin']).toContain(given.unit);
  expect(Object.keys(given.place)).toEqual(['x']);
  expect(Number.isInteger(given.place.x)).toBe(true);
}

const folder = mkdtempSync(join(tmpdir(), 'llmservice-tools-'));
/** `named`: by the configuration, of a template that has no tools. `described`: the demo model as it is. */
const kinds = [
  'json',
  'xml',
  'glm',
  'invoke',
  'list',
  'ended',
  'alone',
  'names',
  'functions',
  'pairs',
  'bare',
  'fences',
  'spelled',
  'named',
  'described',
] as const;
/** Room for descriptions of tools. */
const engine = { maxModelLen: 2048 };
const replicas = {} as Record<(typeof kinds)[number], ReplicaProcess>;

beforeAll(async () => {
  // One after the other: a dozen that start at once on two processors take longer than each may.
  const serve = async (options: Parameters<typeof ReplicaProcess.start>[0]): Promise<ReplicaProcess> => {
    const replica = await ReplicaProcess.start(options);
    await replica.ready();
    return replica;
  };
  const start = async (
    name: string,
    words: string,
    markers: Markers | null,
    env: NodeJS.ProcessEnv = {},
  ): Promise<ReplicaProcess> => serve({ uri: checkpoint(join(folder, name), words, markers), env, engine });
  replicas.json = await start('json', words.json, qwen);
  replicas.xml = await start('xml', words.xml, qwen);
  replicas.glm = await start('glm', words.glm, qwen);
  replicas.invoke = await start('invoke', words.invoke, ['<minimax:tool_call>', '</minimax:tool_call>']);
  replicas.list = await start('list', words.list, mistral);
  replicas.ended = await start('ended', words.ended, null);
  replicas.alone = await start('alone', words.alone, null);
  replicas.names = await start('names', words.names, mistral);
  replicas.functions = await start('functions', words.functions, null);
  replicas.pairs = await start('pairs', words.pairs, ['<|tool_call>', '<tool_call|>']);
  replicas.bare = await start('bare', words.bare, null);
  replicas.fences = await start('fences', words.fences, null);
  replicas.spelled = await start('spelled', words.json, null);
  replicas.named = await start('named', '', qwen, { TOOL_CALL_PARSER: 'qwen3_xml' });
  replicas.described = await serve({ uri: demoCheckpoint, engine });
}, 300_000);
afterAll(async () => {
  await Promise.all(Object.values(replicas).map((each) => each.stop()));
  rmSync(folder, { recursive: true });
});

const ask = (
  kind: (typeof kinds)[number],
  seed: number,
  more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>,
): Promise<OpenAI.ChatCompletion> => {
  const client = new OpenAI({ baseURL: `${replicas[kind].url}/v1`, apiKey: 'none', maxRetries: 0 });
  const sampling = { temperature: 1.5, seed };
  return client.chat.completions.create({
    model: 'demo',
    messages,
    tools,
    max_completion_tokens: 550,
    ...sampling,
    ...more,
  });
};
const seeds = Array.from({ length: 8 }, (_, i) => i);

describe.each(kinds)('a checkpoint that writes calls in %s', (kind) => {
  test('calls a tool when one is required, by its schema', async () => {
    const answers = await Promise.all(seeds.map((seed) => ask(kind, seed, { tool_choice: 'required' })));
    for (const { choices } of answers) {
      const { message, finish_reason } = choices[0]!;
      const calls = message.tool_calls ?? [];
      expect(message.content).toBeNull();
      expect(calls.length).toBeGreaterThan(0);
      for (const call of finish_reason === 'length' ? calls.slice(0, -1) : calls) expectCall(call);
    }
    const ended = answers.filter(({ choices }) => choices[0]!.finish_reason === 'tool_calls');
    // Of many calls in one block the demo model does not see the end.
    if (!['invoke', 'list', 'ended', 'alone', 'bare', 'fences'].includes(kind))
      expect(ended.length).toBeGreaterThan(0);
  });

  test('calls the one that is named, once', async () => {
    const tool_choice = { type: 'function' as const, function: { name: 'weather' } };
    for (const { choices } of await Promise.all(seeds.map((seed) => ask(kind, seed, { tool_choice })))) {
      const { message, finish_reason } = choices[0]!;
      expect([finish_reason, message.tool_calls?.length]).toEqual(['tool_calls', 1]);
      message.tool_calls?.forEach(expectCall);
      expect(message.tool_calls).toMatchObject([{ function: { name: 'weather' } }]);
    }
  });

  test('calls or gives structured output, where both are asked for', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'boolean' } },
      required: ['a'],
      additionalProperties: false,
    };
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', schema } };
    for (const { choices } of await Promise.all(seeds.map((seed) => ask(kind, seed, { response_format })))) {
      const { message, finish_reason } = choices[0]!;
      if (finish_reason === 'length') continue;
      if (message.content === null) message.tool_calls?.forEach(expectCall);
      else expect(Object.keys(JSON.parse(message.content) as object)).toEqual(['a']);
    }
  });
});

test('a header says where a message described the tools, since the chat template shows none', async () => {
  const asked = { messages, tools, tool_choice: 'required', max_tokens: 1 };
  const said = async (kind: (typeof kinds)[number]): Promise<unknown> =>
    (await replicas[kind].post('/v1/chat/completions', asked)).headers.get('x-llmservice-tools');
  expect(await Promise.all(kinds.map(said))).toEqual(
    kinds.map((kind) => (kind === 'named' || kind === 'described' ? 'described' : null)),
  );
});

test('the demo model reads its calls and their results, though its template has no role for them', async () => {
  const tool_choice = { type: 'function' as const, function: { name: 'weather' } };
  const called = (await ask('described', 0, { tool_choice })).choices[0]!.message;
  const results = (called.tool_calls ?? []).map(({ id: tool_call_id }) => ({
    role: 'tool' as const,
    tool_call_id,
    content: 'rain',
  }));
  expect(results).toHaveLength(1);
  const conversation = [...messages, called, ...results];
  const { choices } = await ask('described', 0, { messages: conversation, max_completion_tokens: 5 });
  expect(choices[0]!.message.role).toBe('assistant');
});
