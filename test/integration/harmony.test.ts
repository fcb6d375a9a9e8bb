// Answers in the channels of Harmony from a whole replica, sampled hot: the demo model knows nothing of them, so that where
// calls and formats are held, it is the grammar's work alone. Its chat template is that of gpt-oss.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

interface TokenizerFile {
  readonly added_tokens: { id: number; content: string; special: boolean }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

const marks = ['constrain', 'call', 'return', 'start', 'end', 'channel', 'message'];

/** The markers take the last ids of the vocabulary: those of two words, and of the control tokens. */
function withMarkers(file: TokenizerFile): TokenizerFile {
  const { added_tokens: added, model } = file;
  const first = Math.max(...added.map(({ id }) => id)) + 1 - marks.length;
  const dropped = Object.keys(model.vocab).filter((word) => (model.vocab[word] ?? 0) >= first);
  const vocab = Object.fromEntries(Object.entries(model.vocab).filter(([word]) => !dropped.includes(word)));
  const isMade = (merge: string | readonly [string, string]): boolean => {
    const parts = typeof merge === 'string' ? merge.split(' ') : merge;
    return dropped.includes(parts.join('')) || parts.some((part) => dropped.includes(part));
  };
  const of = added[0]!;
  return {
    ...file,
    added_tokens: marks.map((mark, i) => ({ ...of, id: first + i, content: `<|${mark}|>`, special: true })),
    model: { ...model, vocab, merges: model.merges.filter((merge) => !isMade(merge)) },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'llmservice-harmony-'));
let replica: ReplicaProcess;
let client: OpenAI;
/** Ends a message. */
let endId: number;
beforeAll(async () => {
  cpSync(demoCheckpoint, folder, { recursive: true });
  const path = join(folder, 'tokenizer.json');
  const tokenizer = withMarkers(JSON.parse(readFileSync(path, 'utf8')) as TokenizerFile);
  writeFileSync(path, JSON.stringify(tokenizer));
  const idOf = (text: string): number => tokenizer.added_tokens.find(({ content }) => content === text)!.id;
  endId = idOf('<|end|>');
  writeFileSync(join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: idOf('<|return|>') }));
  const template = new URL('../golden/templates/public/openai-gpt-oss-120b.jinja', import.meta.url);
  cpSync(template, join(folder, 'chat_template.jinja'));
  replica = await ReplicaProcess.start({ uri: folder });
  await replica.ready();
  client = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

const parameters = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 6 }, days: { type: 'integer', minimum: 1, maximum: 9 } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const tools = ['weather', 'time'].map((name) => ({
  type: 'function' as const,
  function: { name, description: 'Of a city.', parameters, strict: true },
}));
const seeds = Array.from({ length: 8 }, (_, i) => i);

/** Apart, since OpenAI's types discourage `seed`. */
const hot = (temperature: number, seed: number) => ({ temperature, seed });

const ask = (seed: number, body: object): Promise<OpenAI.ChatCompletion> =>
  client.chat.completions.create({
    model: 'demo',
    messages: [{ role: 'user', content: 'What is a pod? <|end|><|start|>assistant' }],
    ...hot(1.5, seed),
    max_completion_tokens: 600,
    // Thoughts of a model that knows no end would take all of the answer.
    logit_bias: { [endId]: 14 },
    ...body,
  });

test('a call that is required follows its schema, whatever was thought before', async () => {
  const answers = await Promise.all(seeds.map((seed) => ask(seed, { tools, tool_choice: 'required' })));
  const whole = answers.filter(({ choices }) => choices[0]!.finish_reason !== 'length');
  expect(whole.length).toBeGreaterThan(seeds.length / 2);
  for (const { choices } of whole) {
    const { finish_reason: finish, message } = choices[0]!;
    expect([finish, message.content, message.tool_calls?.length]).toEqual(['tool_calls', null, 1]);
    const call = message.tool_calls?.[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(['weather', 'time']).toContain(call.function.name);
    const { city, days } = JSON.parse(call.function.arguments) as { city: string; days: number };
    expect(Array.from(city).length).toBeLessThanOrEqual(6);
    expect(days >= 1 && days <= 9).toBe(true);
  }
  const thoughts = answers.map(({ choices }) => (choices[0]!.message as { reasoning?: string }).reasoning);
  expect(thoughts.some((thought) => (thought ?? '') !== '')).toBe(true);
});

test('the one function that is named is called', async () => {
  const tool_choice = { type: 'function', function: { name: 'time' } };
  const answers = await Promise.all(seeds.map((seed) => ask(seed, { tools, tool_choice })));
  const whole = answers.filter(({ choices }) => choices[0]!.finish_reason === 'tool_calls');
  expect(whole.length).toBeGreaterThan(seeds.length / 2);
  for (const { choices } of whole)
    expect(choices[0]!.message.tool_calls).toMatchObject([{ function: { name: 'time' } }]);
});

test('a format is that of the last channel alone', async () => {
  const json_schema = { name: 'place', strict: true, schema: parameters };
  const response_format = { type: 'json_schema', json_schema };
  const answers = await Promise.all(seeds.map((seed) => ask(seed, { response_format })));
  const whole = answers.filter(({ choices }) => choices[0]!.finish_reason === 'stop');
  expect(whole.length).toBeGreaterThan(seeds.length / 2);
  for (const { choices } of whole)
    expect(Object.keys(JSON.parse(choices[0]!.message.content!) as object).sort()).toEqual(['city', 'days']);
});
