// Rerank, score and classify: what the engine is asked for, and what its logits become.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { byteIds, output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

interface Answer {
  readonly id: string;
  readonly results: readonly { index: number; relevance_score: number; document?: { text: string } }[];
  readonly data: readonly { index: number; score: number; label: string; probs: number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly error: { readonly message: string; readonly code: string; readonly param: string | null };
}

const [n, y] = byteIds('ny') as [number, number];

/** Log-odds of "y" are the digit that the prompt has last. */
const judges: Script = function* ({ prompt }) {
  yield output([]);
  const digits = Buffer.from(prompt).toString().replaceAll(/\D/g, '');
  const top = [
    { token: y, logprob: Number(digits.at(-1) ?? 0) - 9 },
    { token: n, logprob: -9 },
  ];
  yield { ...output([65], 'length'), logprobs: [{ logprob: -1, top }] };
};

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start({ judges: true });
  server.script = judges;
});
afterEach(() => server.stop());

async function post(path: string, body: object): Promise<{ status: number; answer: Answer }> {
  const response = await server.post(path, body);
  return { status: response.status, answer: (await response.json()) as Answer };
}

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
const prompts = (): string[] =>
  server.engine.requests.map(({ prompt }) => server.tokenizer.decode(prompt, { skipSpecialTokens: false }));
const documents = ['low 1', { text: 'high 3' }, 'middle 2'];

describe.each(['/v1/rerank', '/rerank', '/v2/rerank', '/openai/v1/rerank'])('%s', (path) => {
  test('orders documents, best first, with their texts', async () => {
    const { status, answer } = await post(path, { query: 'q', documents, model: 'small' });
    expect(status).toBe(200);
    const tokens = server.engine.requests.reduce((sum, { prompt }) => sum + prompt.length, 0);
    expect(answer).toEqual({
      id: expect.stringMatching(/^rerank-/),
      model: 'small',
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      results: [
        { index: 1, document: { text: 'high 3' }, relevance_score: sigmoid(3) },
        { index: 2, document: { text: 'middle 2' }, relevance_score: sigmoid(2) },
        { index: 0, document: { text: 'low 1' }, relevance_score: sigmoid(1) },
      ],
    });
  });
});

test.each([
  [{ top_n: 2 }, [1, 2]],
  [{ top_n: 0 }, [1, 2, 0]],
  [{ top_n: 9 }, [1, 2, 0]],
])('a rerank with %j has the documents %j', async (more, indices) => {
  const { answer } = await post('/v1/rerank', { query: 'q', documents, ...more });
  expect(answer.results.map(({ index }) => index)).toEqual(indices);
});

test('texts stay away and scores are log-odds where the client wants it so', async () => {
  const asked = { query: 'q', documents, return_documents: false, use_activation: false };
  const { answer } = await post('/v1/rerank', asked);
  expect(answer.results).toEqual([
    { index: 1, relevance_score: 3 },
    { index: 2, relevance_score: 2 },
    { index: 0, relevance_score: 1 },
  ]);
});

test('the engine is asked for the labels alone, with everything else that was said', async () => {
  const asked = { user: 'team', priority: -1, cache_salt: 's', max_queue_seconds: 2 };
  await post('/v1/rerank', { query: 'q', documents: ['a'], instruction: 'Find it', ...asked });
  const [request] = server.engine.requests;
  expect(request).toMatchObject({
    ...{ pooling: 'none', maxTokens: 1, sampling: { temperature: 0, topLogprobs: 0 } },
    ...{ fairnessKey: 'team', priority: -1, cacheSalt: 's', maxQueueMs: 2000 },
  });
  expect([...request!.rules!.reported]).toEqual([n, y]);
  expect(request!.stopTokens).toHaveLength(0);
  expect(prompts()).toEqual([
    expect.stringMatching(
      /^system:Judge .* "y" or "n"\.user:<Instruct>: Find it\n<Query>: q\n<Document>: a!$/,
    ),
  ]);
});

test('a prompt that the client wrote itself is taken as it is', async () => {
  await post('/v1/rerank', { query: '<|im_start|>my query ', documents: ['my document'] });
  expect(prompts()).toEqual(['<|im_start|>my query my document']);
});

test.each([
  ['a text with each', 'q', ['a 1', 'b 2'], [1, 2]],
  ['one with one', 'q', 'b 2', [2]],
  ['pairs', ['q', 'r'], ['a 1', 'b 2'], [1, 2]],
])('/v1/score scores %s', async (_, text_1, text_2, logits) => {
  for (const path of ['/v1/score', '/score']) {
    const { status, answer } = await post(path, { text_1, text_2 });
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^score-/),
      object: 'list',
      created: expect.any(Number),
      model: 'tiny',
      data: logits.map((logit, index) => ({ index, object: 'score', score: sigmoid(logit) })),
    });
  }
});

test('/classify has the probabilities of the labels of texts as they are', async () => {
  const { answer } = await post('/classify', { input: ['4', '0'], add_special_tokens: false });
  expect(prompts()).toEqual(['4', '0']);
  expect(answer).toMatchObject({
    id: expect.stringMatching(/^classify-/),
    object: 'list',
    usage: { prompt_tokens: 2, total_tokens: 2 },
  });
  const [first, second] = answer.data;
  expect(first).toMatchObject({ index: 0, label: 'y', num_classes: 2 });
  expect(first!.probs[1]).toBeCloseTo(sigmoid(4), 12);
  expect(second!.probs).toEqual([0.5, 0.5]);
});

describe('refuses', () => {
  test.each([
    ['/v1/rerank', { documents: ['a'] }, 'query is required', 'query'],
    ['/v1/rerank', { query: 'q', documents: [] }, 'documents must NOT have fewer', 'documents'],
    ['/v1/rerank', { query: 'q', documents: [{ image: 'x' }] }, 'a text, or an object with', 'documents.0'],
    ['/v1/rerank', { query: 'q', documents: ['a'], top_n: -1 }, 'top_n must be', 'top_n'],
    ['/v1/rerank', { query: 'q', documents: ['a'], rank_fields: ['x'] }, 'not a known', 'rank_fields'],
    ['/v1/rerank', { query: 'q', documents: ['a', 'x'.repeat(1024)] }, 'the context is 1024', 'documents.1'],
    [
      '/v1/rerank',
      { query: 'q'.repeat(10_000), documents: Array.from({ length: 2000 }, () => 'a') },
      'documents: 2000 texts, each with its query and instruction, have 20002000 characters',
      'documents',
    ],
    ['/v1/score', { text_1: ['a', 'b'], text_2: ['c'] }, 'text_1 has 2 texts, and text_2 has 1', 'text_1'],
    ['/v1/score', { text_1: 'a', text_2: [] }, 'text_2 must be a text, or a list', 'text_2'],
    ['/classify', { input: '', add_special_tokens: false }, 'input has no tokens', 'input'],
    ['/classify', { input: [[1], [9999]] }, 'input.1 has the token id 9999', 'input.1'],
  ])('%s %#', async (path, body, message, param) => {
    const { status, answer } = await post(path, body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ message: expect.stringContaining(message), param });
    expect(server.engine.requests).toEqual([]);
  });

  test.each([
    ['/v1/rerank', { query: 'q', documents: ['a'] }],
    ['/score', { text_1: 'a', text_2: 'b' }],
    ['/classify', { input: 'a' }],
  ])('%s of a model that judges nothing', async (path, body) => {
    await server.stop();
    server = await ScriptedServer.start();
    const { status, answer } = await post(path, body);
    expect([status, answer.error.code]).toEqual([400, 'task_not_supported']);
    expect(answer.error.message).toContain('engine.classifierFromToken');
  });
});

describe('a model with a head that classifies', () => {
  beforeEach(async () => {
    await server.stop();
    server = await ScriptedServer.start({ judges: 'head' });
    server.script = ({ prompt }) => [{ ...output([], 'stop'), embedding: Float32Array.of(prompt.length, 1) }];
  });

  test('gives no label of logits that are not finite', async () => {
    server.script = () => [{ ...output([], 'stop'), embedding: Float32Array.of(NaN, 1) }];
    const { status, answer } = await post('/classify', { input: 'a' });
    expect([status, answer.error.code]).toEqual([500, 'EngineNumericalFault']);
  });

  test('has the probabilities of its labels, by the hidden state of the last token', async () => {
    const { status, answer } = await post('/classify', { input: [[5], [5, 6, 7]] });
    expect(status).toBe(200);
    expect(server.engine.requests.map(({ pooling }) => pooling)).toEqual(['last', 'last']);
    const [even, safe] = answer.data;
    expect(even!.probs).toEqual([0.5, 0.5]);
    expect(safe).toMatchObject({ label: 'safe', num_classes: 2 });
    expect(safe!.probs[0]).toBeCloseTo(sigmoid(2), 12);
    const raw = await post('/classify', { input: [5, 6, 7], use_activation: false });
    expect(raw.answer.data[0]!.probs).toEqual([3, 1]);
  });

  test.each([
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'x' }] }, 'no head that generates'],
    ['/v1/completions', { prompt: 'x' }, 'no head that generates'],
    ['/generate', { prompt: 'x' }, 'no head that generates'],
    ['/v1/models/tiny:predict', { prompt: 'x' }, 'no head that generates'],
    ['/v1/rerank', { query: 'q', documents: ['a'] }, '2 labels, which make no single score'],
  ])('refuses %s', async (path, body, why) => {
    const { status, answer } = await post(path, body);
    expect([status, answer.error.code]).toEqual([400, 'task_not_supported']);
    expect(answer.error.message).toContain(why);
    expect(server.engine.requests).toEqual([]);
  });
});

describe('a model that embeds', () => {
  beforeEach(async () => {
    await server.stop();
    server = await ScriptedServer.start({ judges: 'cosine' });
    // A text of one token is (0.8, 0.6), one of more (0, 1).
    server.script = ({ prompt }) => [
      {
        ...output([], 'stop'),
        embedding: prompt.length === 2 ? Float32Array.of(4, 3) : Float32Array.of(0, 2),
      },
    ];
  });

  test('scores pairs by the cosine of two embeddings, and embeds each text once', async () => {
    const { status, answer } = await post('/v1/score', { text_1: 'q', text_2: ['long', 'd', 'q'] });
    expect(status).toBe(200);
    expect(prompts()).toEqual(['<|bos|>q', '<|bos|>long', '<|bos|>d']);
    expect(
      server.engine.requests.every(({ pooling, maxTokens }) => pooling === 'last' && maxTokens === 0),
    ).toBe(true);
    const [far, near, same] = answer.data.map(({ score }) => score);
    expect(far).toBeCloseTo(0.6, 6);
    expect([near, same]).toEqual([expect.closeTo(1, 6), expect.closeTo(1, 6)]);
    expect(answer.usage.prompt_tokens).toBe(2 + 5 + 2);
  });

  test('orders documents so', async () => {
    const { answer } = await post('/v1/rerank', { query: 'q', documents: ['long', 'd'], top_n: 1 });
    expect(answer.results).toMatchObject([{ index: 1, document: { text: 'd' } }]);
  });

  test.each([
    [
      'an instruction',
      { text_1: 'a', text_2: 'b', instruction: 'Find it' },
      'embeds each text',
      'instruction',
    ],
    ['a long query', { text_1: ['a', 'x'.repeat(64)], text_2: ['b', 'c'] }, 'context is 64', 'text_1.1'],
    ['a long text', { text_1: 'a', text_2: ['b', 'x'.repeat(64)] }, 'context is 64', 'text_2.1'],
  ])('refuses %s', async (_, body, message, param) => {
    const { status, answer } = await post('/v1/score', body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ message: expect.stringContaining(message), param });
    expect(server.engine.requests).toEqual([]);
  });
});

test('they count as prompts without an answer', async () => {
  const { answer } = await post('/v1/rerank', { query: 'q', documents });
  const metrics = await (await server.get('/metrics')).text();
  const count = (name: string): number =>
    Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(metrics)?.[1]);
  expect(count('vllm:prompt_tokens_total')).toBe(answer.usage.prompt_tokens);
  expect(count('vllm:generation_tokens_total')).toBe(0);
  const [ended] = server.ended;
  expect(ended!.generations).toHaveLength(3);
  for (const { usage, maxTokens, finishReason } of ended!.generations)
    expect({ ...usage, maxTokens, finishReason }).toMatchObject({
      ...{ completionTokens: 0, maxTokens: null, finishReason: 'stop' },
    });
});

test('a fault of one document is the answer, and no other continues', async () => {
  server.script = async function* ({ prompt }, signal) {
    if (Buffer.from(prompt).toString().includes('bad'))
      throw new FailureError('EngineNumericalFault', 'not finite in layer 2');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield* [];
  };
  const { status, answer } = await post('/v1/rerank', { query: 'q', documents: ['good', 'bad'] });
  expect([status, answer.error.code]).toEqual([500, 'EngineNumericalFault']);
  expect(server.engine.open).toBe(0);
});
