// --compatibility liftwing and sampling defaults by mode, on a whole replica.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

interface Chunk {
  readonly choices: readonly {
    readonly delta: { readonly content?: string | null; readonly reasoning?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage: { readonly completion_tokens: number } | null;
}

let replica: ReplicaProcess;
const name = 'demo';
beforeAll(async () => {
  replica = await ReplicaProcess.start({
    uri: demoCheckpoint,
    // Greedy without thinking, and with it so hot that no two answers are the same.
    engine: {
      samplingDefaults: {
        thinking: { temperature: 2, topP: 1, topK: -1 },
        plain: { temperature: 0, presencePenalty: 0 },
      },
    },
    env: { LLMSERVICE_COMPATIBILITY: 'liftwing' },
  });
  await replica.ready();
});
afterAll(() => replica.stop());

const messages = [{ role: 'user', content: 'What is a pod?' }];

async function streamed(body: object): Promise<readonly Chunk[]> {
  const path = `/v1/models/llm-${name}/openai/v1/chat/completions`;
  const text = await (await replica.post(path, { messages, max_tokens: 16, stream: true, ...body })).text();
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
}

const textOf = (chunks: readonly Chunk[]): string =>
  chunks
    .map(({ choices: [choice] }) => `${choice?.delta.reasoning ?? ''}${choice?.delta.content ?? ''}`)
    .join('');

test('a stream under the model’s path ends with the usage, unasked', async () => {
  const last = (await streamed({})).at(-1);
  expect(last).toMatchObject({
    choices: [{ finish_reason: expect.stringMatching(/stop|length/) }],
    usage: { completion_tokens: expect.any(Number) },
  });
});

test('sampling is that of the mode', async () => {
  const answers = async (body: object): Promise<number> => {
    const texts = await Promise.all(
      [1, 2, 3, 4].map(async (seed) => textOf(await streamed({ seed, ...body }))),
    );
    return new Set(texts).size;
  };
  expect(await answers({})).toBe(1);
  expect(await answers({ reasoning: 'true' })).toBeGreaterThan(1);
});

test('thinking is off unless asked for', async () => {
  const prompt = async (body: object): Promise<string> => {
    const answer = await replica.post('/apply-template', { messages, ...body });
    return ((await answer.json()) as { prompt: string }).prompt;
  };
  expect(await prompt({})).toContain('</think>');
  expect(await prompt({ enable_thinking: 'true' })).not.toContain('</think>');
});

test('a prediction takes token ids, a system text and a model', async () => {
  const tokenized = await replica.post('/tokenize', { prompt: 'A pod is' });
  const { tokens } = (await tokenized.json()) as { tokens: number[] };
  for (const body of [{ prompt: tokens }, { prompt: 'x', system: 'Be brief.', model: 'any' }]) {
    const response = await replica.post(`/v1/models/${name}:predict`, { max_tokens: 4, ...body });
    expect([response.status, await response.json()]).toMatchObject([200, { model_name: name }]);
  }
});
