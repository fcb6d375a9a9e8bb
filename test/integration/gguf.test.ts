// A GGUF file in a bucket, or its parts, from the URI to the reference's tokens.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ggufFile, llamaGguf } from '../../checkpoint/src/formats/gguf.fixture.js';
import { splitGguf } from '../../checkpoint/src/formats/split-gguf.fixture.js';
import { tokenizerJson } from '../../runtime/src/tokens/tokenizer.fixture.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { modelsDir, readGolden } from '../golden/golden-values.js';
import { ReplicaProcess } from './replica-process.js';
import { S3Server, s3Environment } from './s3-server.js';

jest.setTimeout(120_000);

const model = 'llama-gguf-q8_0';
const weights = readFileSync(`${modelsDir}${model}/model.gguf`);
const { prompt, tokens } = readGolden(model).greedy[0]!;
const maxTokens = 8;
const [first, second] = ['m-00001-of-00003.gguf', 'm-00002-of-00003.gguf'] as const;

let s3: S3Server;
beforeAll(async () => {
  s3 = await S3Server.start();
  s3.put('models', 'whole', { 'model.gguf': weights, 'tokenizer.json': Buffer.from(tokenizerJson()) });
  const parts = splitGguf(weights, 'm', 3);
  s3.put('models', 'split', { ...parts, 'tokenizer.json': Buffer.from(tokenizerJson()) });
  s3.put('models', 'two', { ...parts, ...splitGguf(weights, 'n', 2) });
  s3.put('models', 'mixed', { ...parts, [second]: splitGguf(weights, 'm', 4)['m-00002-of-00004.gguf']! });
  s3.put('models', 'partial', { [first]: parts[first]! });
  s3.put('models', 'cut', { 'model.gguf': weights.subarray(0, weights.length - 1000) });
  s3.put('models', 'bare', { 'model.gguf': weights });
  const kindsOfOneToken = llamaGguf({ keys: { 'tokenizer.ggml.token_type': [1] } });
  s3.put('models', 'unlike', { 'model.gguf': ggufFile(kindsOfOneToken) });
});
afterAll(() => s3.stop());

const start = (path: string): Promise<ReplicaProcess> =>
  ReplicaProcess.start({
    uri: `s3://models/${path}`,
    endpoint: s3.endpoint,
    engine: { maxModelLen: 256 },
    env: s3Environment,
  });

describe.each(['whole/', 'whole/model.gguf', 'split/', `split/${first}`])('s3://models/%s', (path) => {
  let replica: ReplicaProcess;
  beforeAll(async () => {
    replica = await start(path);
    await replica.ready();
  });
  afterAll(() => replica.stop());

  test('is pulled, loaded and answers as the reference does', async () => {
    const body = { prompt, max_tokens: maxTokens, temperature: 0, ignore_eos: true };
    const response = await replica.post('/v1/completions', body);
    expect(response.status).toBe(200);
    const { choices } = (await response.json()) as { choices: { text: string }[] };
    const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
    const wanted = tokenizer.decode(tokens.slice(0, maxTokens), { skipSpecialTokens: true });
    expect(wanted).not.toBe('');
    expect(choices[0]?.text).toBe(wanted);
  });
});

test.each([
  ['cut/', 'CheckpointCorrupt'],
  ['bare/', 'TokenizerMissing'],
  ['unlike/', 'TokenizerInvalid'],
  ['absent/model.gguf', 'ModelNotFound'],
  ['two/', 'CheckpointIncomplete'],
  ['partial/', 'CheckpointIncomplete'],
  ['mixed/', 'CheckpointCorrupt'],
  [`split/${second}`, 'ModelNotFound'],
])('s3://models/%s is refused as %s', async (path, reason) => {
  const replica = await start(path);
  try {
    expect(await replica.exited()).not.toBe(0);
    expect(replica.terminationMessage).toMatchObject({ reason });
  } finally {
    await replica.stop();
  }
});
