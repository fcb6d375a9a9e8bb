import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { classifierOf, matryoshkaOf, readClassifierTokens } from './read-classifier.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'classifier-'));
});
afterEach(() => rm(folder, { recursive: true }));

const read = async (config: object): Promise<readonly string[] | null> => {
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  return readClassifierTokens(folder, null);
};

test('a checkpoint names its tokens as vLLM has them, or none', async () => {
  expect(await readClassifierTokens(folder, null)).toBeNull();
  expect(await read({ model_type: 'qwen3' })).toBeNull();
  expect(await read({ classifier_from_token: ['no', 'yes'] })).toEqual(['no', 'yes']);
});

test.each([['yes'], [['yes']], [['yes', 'yes']], [['no', 1]]])('refuses %j', async (tokens) => {
  await expect(read({ classifier_from_token: tokens })).rejects.toMatchObject({
    reason: 'CheckpointCorrupt',
    message: expect.stringContaining('classifier_from_token is not a list of two or more tokens'),
  });
});

test('labels are tokens of the vocabulary', () => {
  const tokenizer = Tokenizer.fromJson(tokenizerJson(), 'tokenizer.json');
  expect(classifierOf(['n', 'hello'], tokenizer, 300)).toEqual({
    ...{ kind: 'tokens', names: ['n', 'hello'], activation: 'softmax', tokens: [110, 259] },
  });
  expect(() => classifierOf(['no', 'y'], tokenizer, 300)).toThrow(
    /names "no", which is no token of the vocabulary/,
  );
  expect(() => classifierOf(['n', 'hello'], tokenizer, 259)).toThrow(/names "hello"/);
});

test('embeddings are cut to the numbers of values that config.json lists, of those that there are', () => {
  expect(matryoshkaOf({ matryoshka_dimensions: [128, 768, 1024] }, 768)).toEqual([128, 768]);
  expect(matryoshkaOf({ matryoshka_dimensions: [1024] }, 768)).toEqual([]);
  expect(matryoshkaOf({ matryoshka_dimensions: ['128'] }, 768)).toBeNull();
  expect(matryoshkaOf({}, 768)).toBeNull();
});
