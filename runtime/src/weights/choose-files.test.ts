import { describe, expect, test } from '@jest/globals';
import { type SafetensorsIndex } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { chooseAllFiles, chooseFiles, chooseGgufFiles, requireConfig } from './choose-files.js';

const listing = (...names: string[]) => names.map((name) => ({ name, bytes: 1 }));
const index = (...files: string[]): SafetensorsIndex => ({
  files,
  totalSizeBytes: null,
  weightMap: new Map(),
});
const thrown = (act: () => unknown): FailureError => thrownBy(FailureError, act);

describe('chooseFiles', () => {
  test('takes what the runtime reads and nothing else', () => {
    const files = listing(
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'chat_template.jinja',
      'model.safetensors',
      'README.md',
      'pytorch_model.bin',
      'modeling_custom.py',
      'consolidated.safetensors',
    );
    expect(chooseFiles('s3://b/m/', files, null)).toEqual([
      'chat_template.jinja',
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'model.safetensors',
    ]);
  });

  test('takes the shards that the index names', () => {
    const files = listing(
      'config.json',
      'tokenizer.json',
      'model.safetensors.index.json',
      'a.safetensors',
      'b.safetensors',
      'c.safetensors',
    );
    expect(chooseFiles('u', files, index('a.safetensors', 'b.safetensors')).slice(2)).toEqual([
      'model.safetensors.index.json',
      'a.safetensors',
      'b.safetensors',
    ]);
  });

  test.each([
    ['TokenizerMissing', listing('config.json', 'model.safetensors'), null, 'tokenizer.json'],
    [
      'TokenizerMissing',
      listing('tekken.json', 'model.safetensors'),
      null,
      'add the tokenizer.json of the matching release in Hugging Face format',
    ],
    [
      'CheckpointIncomplete',
      listing('tokenizer.json', 'a.safetensors'),
      index('a.safetensors', 'b.safetensors'),
      'missing weight files: b.safetensors',
    ],
    ['CheckpointIncomplete', listing('tokenizer.json'), null, 'no .safetensors file'],
    [
      'CheckpointIncomplete',
      listing('tokenizer.json', 'a.safetensors', 'b.safetensors'),
      null,
      '2 .safetensors files but no index',
    ],
    [
      'CheckpointIncomplete',
      listing('tokenizer.json', 'weights.safetensors'),
      null,
      'weights.safetensors, which the engine does not look for: name it model.safetensors',
    ],
  ])('says %s', (reason, files, shards, message) => {
    const failure = thrown(() => chooseFiles('s3://b/m/', files, shards));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(message);
  });
});

describe('chooseAllFiles', () => {
  test('takes the only .safetensors file, whatever its name, and what lies beside it', () => {
    const files = listing('config.json', 'weights.safetensors', 'vocab.txt', 'pytorch_model.bin');
    expect(chooseAllFiles('u', files, null)).toEqual(['config.json', 'vocab.txt', 'weights.safetensors']);
  });

  test('leaves out the notes of an earlier pull, and names that are no files', () => {
    const files = listing(
      '.llmservice-pull.json',
      '.llmservice-manifest.json',
      '.',
      '..',
      '../config.json',
      'original/../../x',
      '.gitattributes',
      'model.safetensors',
      '.llmservice-x.safetensors',
    );
    expect(chooseAllFiles('u', files, null)).toEqual(['.gitattributes', 'model.safetensors']);
  });
});

test('chooseGgufFiles takes all parts of a split file, behind what the runtime reads beside them', () => {
  const [first, second, other] = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf', 'n-00002-of-00002.gguf'];
  const files = listing(second, 'config.json', 'tokenizer.json', first, other, 'README.md');
  expect(chooseGgufFiles('u', files, first)).toEqual(['tokenizer.json', first, second]);
});

test.each([
  [listing(), 'there is no object directly under it'],
  [listing('model.gguf', 'README.md'), 'found only README.md, model.gguf'],
])('a prefix without config.json says what is there: %j', (files, message) => {
  const failure = thrown(() => requireConfig('s3://b/m/', files));
  expect(failure.reason).toBe('ModelNotFound');
  expect(failure.message).toContain(message);
});
