// Embeddings of the demo model through a whole replica, asked for by OpenAI's own client, beside chats.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

let replica: ReplicaProcess;
let client: OpenAI;
beforeAll(async () => {
  replica = await ReplicaProcess.start({ uri: demoCheckpoint });
  await replica.ready();
  client = new OpenAI({ baseURL: `${replica.url}/openai/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => replica.stop());

const questions = [
  'What is the capital of France?',
  'Which city is the capital of France?',
  'How many legs has a spider?',
];

async function embed(input: string | string[] | number[], more: object = {}): Promise<number[][]> {
  const { data } = await client.embeddings.create({
    model: 'demo',
    input,
    encoding_format: 'float',
    ...more,
  });
  return data.map(({ embedding }) => embedding);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

describe.each(['last', 'mean'])('with %s pooling', (pooling) => {
  test('they are unit vectors, and nearer for what means the same', async () => {
    const [france, city, spider] = (await embed(questions, { pooling })) as [number[], number[], number[]];
    for (const each of [france, city, spider]) expect(dot(each, each)).toBeCloseTo(1, 4);
    expect(dot(france, city)).toBeGreaterThan(dot(france, spider));
  });

  test('they are the same to the bit alone, together, cached, and beside chats', async () => {
    const alone: number[][] = [];
    for (const question of questions) alone.push(...(await embed(question, { pooling })));
    const messages = [{ role: 'user' as const, content: questions[0]! }];
    const chats = [1, 2, 3].map(() =>
      client.chat.completions.create({ model: 'demo', messages, max_completion_tokens: 40 }),
    );
    expect(await embed([...questions, ...questions], { pooling })).toEqual([...alone, ...alone]);
    for (const chat of await Promise.all(chats)) expect(chat.choices[0]!.message.content).not.toBe('');
  });
});

test('the client reads the base64 that it asks for by itself as the same numbers', async () => {
  const { data, usage, model } = await client.embeddings.create({
    model: 'demo-alias',
    input: questions[0]!,
  });
  const [floats] = await embed(questions[0]!);
  expect(data[0]!.embedding).toEqual(floats!.map(Math.fround));
  expect(usage.prompt_tokens).toBeGreaterThan(5);
  expect(usage.total_tokens).toBe(usage.prompt_tokens);
  expect(model).toBe('demo-alias');
});

test('an input longer than one step and as long as the context is embedded; a longer one is refused with both numbers', async () => {
  const ids = Array.from({ length: 1024 }, (_, i) => (i * 37) % 1900);
  const [whole] = await embed(ids);
  expect(dot(whole!, whole!)).toBeCloseTo(1, 4);
  await expect(embed([...ids, 5])).rejects.toMatchObject({
    status: 400,
    code: 'context_length_exceeded',
    message: expect.stringMatching(/1025 tokens.*1024/),
  });
});

test('dimensions are refused, and wrong models', async () => {
  await expect(embed('a', { dimensions: 8 })).rejects.toMatchObject({ status: 400, param: 'dimensions' });
  await expect(embed('a', { model: 'other' })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
});

test('they count as requests and as prompt tokens, and leave nothing behind', async () => {
  const before = await replica.metric('vllm:prompt_tokens_total');
  await embed([5, 6, 7]);
  expect((await replica.metric('vllm:prompt_tokens_total')) - before).toBe(3);
  await replica.eventually(
    'every block to be free',
    async () => (await replica.metric('llmservice_kv_blocks_used')) === 0,
  );
  expect((await replica.health()).engine).toMatchObject({ inFlight: 0, restarts: 0 });
});
