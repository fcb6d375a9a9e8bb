// An encoder as EmbeddingGemma is published, through a whole replica: embeddings of sentence-transformers, and whatever else is
// asked refused by name.

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const encoder = fileURLToPath(new URL('../golden/encoders/gemma3_text-bidirectional', import.meta.url));
const golden = JSON.parse(readFileSync(join(encoder, 'sentences.json'), 'utf8')) as Readonly<
  Record<'prompt' | 'cls' | 'mean', number[]>
>[];
const folder = mkdtempSync(join(tmpdir(), 'llmservice-encoder-'));
let replica: ReplicaProcess;
beforeAll(async () => {
  cpSync(encoder, folder, { recursive: true });
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(demoCheckpoint, name), join(folder, name));
  const warmup = { preset: 'all', shapes: ['64:128'], timeLimitSeconds: 10 };
  replica = await ReplicaProcess.start({
    uri: folder,
    engine: { dtype: 'float32', maxModelLen: null, maxNumBatchedTokens: 400, warmup },
  });
  await replica.ready();
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly data: readonly { readonly embedding: number[]; readonly id: string }[];
  readonly error: { readonly code: string; readonly message: string };
}

async function post(path: string, body: object): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(replica.url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, answer: (await response.json()) as Answer };
}

const unit = (values: readonly number[]): number[] => {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return values.map((value) => value / length);
};

test.each([
  ['the mean, as the checkpoint says', 'mean', {}],
  ['the first token', 'cls', { pooling: 'cls' }],
  ['the first values of the mean', 'mean', { dimensions: 8 }],
] as const)('%s of all prompts at once, of more tokens than a step has rows', async (_, pooling, more) => {
  const input = golden.map(({ prompt }) => prompt);
  const { status, answer } = await post('/v1/embeddings', { input, ...more });
  expect(status).toBe(200);
  golden.forEach((wanted, i) => {
    const expected = unit(wanted[pooling].slice(0, 'dimensions' in more ? more.dimensions : undefined));
    const got = answer.data[i]!.embedding;
    expect(got).toHaveLength(expected.length);
    expected.forEach((value, k) => expect(got[k]).toBeCloseTo(value, 3));
  });
});

test('a pair scores the cosine of its embeddings', async () => {
  // Of tokens that the small vocabulary has.
  const texts = ['a b', 'xqz'];
  const { answer } = await post('/v1/embeddings', { input: texts });
  const [a, b] = answer.data.map(({ embedding }) => embedding);
  const score = await post('/v1/score', { text_1: texts[0], text_2: texts });
  const [same, other] = score.answer.data as unknown as readonly { readonly score: number }[];
  expect(same!.score).toBeCloseTo(1, 5);
  expect(other!.score).toBeCloseTo(
    a!.reduce((sum, value, i) => sum + value * b![i]!, 0),
    5,
  );
});

test('a text that no step has rows for is refused with both numbers', async () => {
  const { status, answer } = await post('/v1/embeddings', { input: Array.from({ length: 401 }, () => 5) });
  expect([status, answer.error.code]).toEqual([400, 'context_length_exceeded']);
  expect(answer.error.message).toMatch(/401 tokens.*400/);
});

test.each([
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }, 'no head that generates'],
  ['/v1/completions', { prompt: [5, 6], max_tokens: 2 }, 'no head that generates'],
  ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }, 'no head that generates'],
  ['/classify', { input: 'a' }, 'this model judges no texts'],
])('%s is refused by name', async (path, body, problem) => {
  const { status, answer } = await post(path, { model: 'demo', ...body });
  expect(status).toBe(400);
  expect(answer.error.message).toContain(problem);
});

test('it is listed as any model', async () => {
  const { data } = (await (await fetch(`${replica.url}/v1/models`)).json()) as Answer;
  expect(data.map(({ id }) => id)).toContain('demo');
});
