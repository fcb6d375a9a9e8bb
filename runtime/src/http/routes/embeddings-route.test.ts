import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { output, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';

interface Answer {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: object;
  readonly error: { readonly message: string; readonly code: string; readonly param: string | null };
}

let server: ScriptedServer;
/** Embeds a prompt as (4, its length · 3): the unit vector of the first two of a one-token prompt is (0.8, 0.6). */
const embeds: Script = function* ({ prompt }) {
  yield output([]);
  yield { ...output([]), embedding: Float32Array.of(4, 3 * prompt.length), finish: 'stop' };
};

beforeEach(async () => {
  server = await ScriptedServer.start();
  server.script = embeds;
});
afterEach(() => server.stop());

async function embed(body: object): Promise<{ status: number; answer: Answer }> {
  const response = await server.post('/v1/embeddings', body);
  return { status: response.status, answer: (await response.json()) as Answer };
}

test.each([
  ['a text, to which the tokenizer adds its special token', 'a', 1, 2],
  ['texts', ['a', 'b'], 2, 4],
  ['token ids', [5, 6, 7], 1, 3],
  ['lists of token ids', [[5], [6, 7]], 2, 3],
])('takes %s', async (_, input, count, tokens) => {
  const { status, answer } = await embed({ input, model: 'small' });
  expect(status).toBe(200);
  expect(answer.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, i) => i));
  expect(answer).toMatchObject({
    object: 'list',
    model: 'small',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
});

test('gives unit vectors, as numbers or as base64 of little-endian floats', async () => {
  const [floats] = (await embed({ input: [5] })).answer.data;
  expect(floats!.embedding).toEqual([Math.fround(0.8), Math.fround(0.6)]);
  const [base64] = (await embed({ input: [5], encoding_format: 'base64' })).answer.data;
  const bytes = Buffer.from(base64!.embedding as string, 'base64');
  expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual(floats!.embedding);
});

describe('with prompts and a length of its own', () => {
  const prompts = new Map([
    ['query', 'q: '],
    ['document', ''],
  ]);
  const prompted = async (sentences: object, body: object): Promise<readonly [string, Answer['error']]> => {
    const { model } = server.parts.lifecycle.requireServing();
    Object.assign(model, { sentences: { prompts, defaultPrompt: null, maxTokens: null, ...sentences } });
    const { answer } = await embed({ add_special_tokens: false, ...body });
    const [last] = server.engine.requests.slice(-1);
    return [server.tokenizer.decode(last?.prompt ?? [], { skipSpecialTokens: false }), answer.error];
  };

  test('a text begins with what the request names, or with the usual one', async () => {
    expect((await prompted({}, { input: 'ab', prompt_name: 'query' }))[0]).toBe('q: ab');
    expect((await prompted({}, { input: 'ab', prompt_name: 'document' }))[0]).toBe('ab');
    expect((await prompted({}, { input: 'ab' }))[0]).toBe('ab');
    expect((await prompted({ defaultPrompt: 'query' }, { input: 'ab' }))[0]).toBe('q: ab');
    expect((await prompted({ defaultPrompt: 'query' }, { input: 'ab', prompt_name: '' }))[0]).toBe('ab');
    expect((await prompted({}, { input: [97, 98], prompt_name: '' }))[0]).toBe('ab');
    const unnamed = { prompts: new Map([['', 'x']]) };
    expect((await prompted(unnamed, { input: 'ab' }))[0]).toBe('ab');
    expect((await prompted({ defaultPrompt: 'query' }, { input: [97, 98] }))[0]).toBe('ab');
  });

  test.each([
    [{}, { input: 'ab', prompt_name: 'passage' }, 'but the checkpoint has the prompts query, document'],
    [{ prompts: new Map() }, { input: 'ab', prompt_name: 'query' }, 'the checkpoint has no prompts'],
    [{}, { input: [97], prompt_name: 'query' }, 'prompt_name is for texts'],
    [
      { maxTokens: 4 },
      { input: ['a', 'abc'], prompt_name: 'query' },
      'input.1 has 6 tokens, but the checkpoint embeds at most 4',
    ],
  ])('%j refuses %j', async (sentences, body, problem) => {
    const [, error] = await prompted(sentences, body);
    expect(error.message).toContain(problem);
  });
});

test('gives the first values alone, of length 1 again', async () => {
  const [one] = (await embed({ input: [5], dimensions: 1 })).answer.data;
  expect(one!.embedding).toEqual([1]);
  const [both] = (await embed({ input: [5], dimensions: 2 })).answer.data;
  expect(both!.embedding).toEqual([Math.fround(0.8), Math.fround(0.6)]);
});

test('asks the engine for the last token by default, with everything else that was said', async () => {
  await embed({ input: [5], user: 'team', priority: -1, cache_salt: 's', max_queue_seconds: 2 });
  await embed({ input: [5], pooling: 'mean' });
  await embed({ input: [5], pooling: 'cls' });
  const [plain, mean, cls] = server.engine.requests;
  expect(plain).toMatchObject({
    pooling: 'last',
    maxTokens: 0,
    fairnessKey: 'team',
    priority: -1,
    cacheSalt: 's',
    maxQueueMs: 2000,
  });
  expect(mean).toMatchObject({ pooling: 'mean' });
  expect(cls).toMatchObject({ pooling: 'cls' });
});

describe('refuses', () => {
  test.each([
    [{}, 'input is required', 'input'],
    [{ input: '', add_special_tokens: false }, 'input has no tokens', 'input'],
    [{ input: [] }, 'input must be a text, a list of texts', 'input'],
    [
      { input: 'a', dimensions: 3 },
      'dimensions is 3, but embeddings of this model have at most 2',
      'dimensions',
    ],
    [{ input: 'a', dimensions: 0 }, 'dimensions', 'dimensions'],
    [
      { input: 'a', encoding_format: 'hex' },
      'encoding_format must be one of "float", "base64"',
      'encoding_format',
    ],
    [{ input: 'a', temperature: 1 }, 'temperature is not a known field', 'temperature'],
    [{ input: [[1], [9999]] }, 'input.1 has the token id 9999', 'input.1'],
    [{ input: ['a', '', 'b'], add_special_tokens: false }, 'input.1 has no tokens', 'input.1'],
    [{ input: ['a', 'x'.repeat(64)] }, 'input.1 has 65 tokens, but the context is 64', 'input.1'],
    [{ input: Array.from({ length: 65 }, () => 1) }, 'the context is 64 tokens', 'input'],
  ])('%j', async (body, message, param) => {
    const { status, answer } = await embed(body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ message: expect.stringContaining(message), param });
    expect(server.engine.requests).toEqual([]);
  });
});

test('takes as many inputs as OpenAI, so many at once as there is room for', async () => {
  let running = 0;
  let most = 0;
  server.script = async function* ({ prompt }) {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    yield { ...output([]), embedding: Float32Array.of(1, prompt[0]!), finish: 'stop' };
  };
  const inputs = Array.from({ length: 300 }, (_, i) => [i % 200]);
  const { status, answer } = await embed({ input: inputs });
  expect(status).toBe(200);
  const returned = answer.data.map(({ embedding: [one, id] }) => Math.round(Number(id) / Number(one)));
  expect(returned).toEqual(inputs.map(([id]) => id));
  expect(most).toBeLessThanOrEqual(server.parts.admission.limit);
  expect(most).toBeGreaterThan(1);
});

test('an input as long as the context passes', async () => {
  expect((await embed({ input: Array.from({ length: 64 }, () => 1) })).status).toBe(200);
});

test('a fault of one input is the answer, and no other continues', async () => {
  server.script = async function* ({ prompt }, signal) {
    if (prompt[0] === 7) throw new FailureError('EngineNumericalFault', 'not finite in layer 2');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield* [];
  };
  const { status, answer } = await embed({ input: [[5], [7]] });
  expect([status, answer.error.code]).toEqual([500, 'EngineNumericalFault']);
  expect(server.engine.open).toBe(0);
  const metrics = await (await server.get('/metrics')).text();
  // What was ended for it has no error of its own.
  expect(metrics.match(/^llmservice_generation_errors_total.*$/gm)).toEqual([
    'llmservice_generation_errors_total{model_name="tiny",code="EngineNumericalFault"} 1',
  ]);
  expect(server.ended[0]!.generations.map(({ finishReason }) => finishReason)).toEqual(['abort', 'error']);
});

test('what is not finite is a fault of the numbers, and no embedding of nulls', async () => {
  const { model } = server.parts.lifecycle.requireServing();
  const weights = Float32Array.of(3e38, 3e38);
  Object.assign(model, { projection: [{ weights, bias: null, inFeatures: 2, activation: 'identity' }] });
  const { status, answer } = await embed({ input: [5] });
  expect([status, answer.error.code]).toEqual([500, 'EngineNumericalFault']);
});

test('what a long matrix takes on the event loop is one of its turns', async () => {
  const { turns, lifecycle } = server.parts;
  const rows = 600_000;
  const layer = { bias: null, activation: 'identity' };
  const projection = [
    { ...layer, weights: new Float32Array(2 * rows).fill(1), inFeatures: 2 },
    { ...layer, weights: new Float32Array(rows).fill(-1), inFeatures: rows },
  ];
  Object.assign(lifecycle.requireServing().model, { projection });
  const asked = jest.spyOn(turns, 'run');
  const before = asked.mock.calls.length;
  expect((await embed({ input: [5] })).answer.data[0]!.embedding).toEqual([-1]);
  const long = asked.mock.calls.length - before;
  Object.assign(lifecycle.requireServing().model, { projection: [] });
  await embed({ input: [5] });
  expect(asked.mock.calls.length - before - long).toBe(long - 1);
});
