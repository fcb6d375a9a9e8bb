// Embeddings and scores of the demo model through a whole replica, by OpenAI's own client and over HTTP, beside chats.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const labels = ['n', 'y'];
let replica: ReplicaProcess;
let client: OpenAI;
beforeAll(async () => {
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    engine: { classifierFromToken: labels },
  });
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

test('fewer dimensions are given, more refused, and wrong models', async () => {
  const [cut = []] = await embed('a', { dimensions: 8 });
  expect(cut).toHaveLength(8);
  expect(Math.hypot(...cut)).toBeCloseTo(1, 5);
  await expect(embed('a', { dimensions: 65_537 })).rejects.toMatchObject({
    status: 400,
    param: 'dimensions',
  });
  await expect(embed('a', { model: 'other' })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
});

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const answer = await fetch(replica.url + path, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

interface Reranked {
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document: { readonly text: string };
  }[];
}

describe('the demo model as if it were a reranker', () => {
  const query = 'What is the capital of France?';
  const rerank = async (documents: readonly string[]): Promise<number[]> => {
    const { results } = await post<Reranked>('/v1/rerank', { query, documents });
    expect(results.map(({ relevance_score }) => relevance_score)).toEqual(
      results.map(({ relevance_score }) => relevance_score).sort((a, b) => b - a),
    );
    for (const { index, document } of results) expect(document.text).toBe(documents[index]);
    return [...results].sort((a, b) => a.index - b.index).map(({ relevance_score }) => relevance_score);
  };

  test('scores are the same to the bit alone, together and as pairs', async () => {
    const alone = [];
    for (const question of questions) alone.push(...(await rerank([question])));
    expect(new Set(alone).size).toBe(questions.length);
    expect(await rerank(questions)).toEqual(alone);
    const { data } = await post<{ data: { score: number }[] }>('/v1/score', {
      text_1: query,
      text_2: questions,
    });
    expect(data.map(({ score }) => score)).toEqual(alone);
  });

  test('labels have the probabilities that a completion reports of their tokens', async () => {
    const ids = [];
    for (const prompt of labels)
      ids.push(...(await post<{ tokens: number[] }>('/tokenize', { prompt })).tokens);
    const { choices } = await post<{ choices: { logprobs: { top_logprobs: Record<string, number>[] } }[] }>(
      '/v1/completions',
      { prompt: query, max_tokens: 1, ignore_eos: true, logprobs: 0, logprob_token_ids: ids },
    );
    const [no, yes] = labels.map((label) => choices[0]!.logprobs.top_logprobs[0]![label]!);
    const { data } = await post<{ data: { label: string; probs: number[] }[] }>('/classify', {
      input: query,
    });
    expect(data[0]!.probs[1]).toBeCloseTo(1 / (1 + Math.exp(no! - yes!)), 5);
    expect(data[0]!.label).toBe(yes! > no! ? 'y' : 'n');
  });

  test('a text as long as the context is judged, and a longer one refused', async () => {
    const ids = Array.from({ length: 1024 }, (_, i) => (i * 37) % 1900);
    const { data } = await post<{ data: { num_classes: number }[] }>('/classify', { input: ids });
    expect(data).toEqual([expect.objectContaining({ num_classes: 2 })]);
    const body = JSON.stringify({ input: [...ids, 5] });
    const refused = await fetch(`${replica.url}/classify`, { method: 'POST', body });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
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
