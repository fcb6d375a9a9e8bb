import { describe, expect, test } from '@jest/globals';
import { qwen36Config } from '../../../checkpoint/src/config/config.fixture.js';
import { readCheckpoint } from './read-checkpoint.js';
import type { CheckpointFiles } from './read-safetensors.js';

type Files = Readonly<Record<string, string | Uint8Array>>;

function folder(files: Files): CheckpointFiles {
  const read: CheckpointFiles['read'] = (file, maxBytes, beginAt = 0) => {
    const content = files[file];
    if (content === undefined) return Promise.resolve(null);
    const bytes = Buffer.from(content);
    const range = bytes.subarray(beginAt, beginAt + maxBytes);
    return Promise.resolve({ bytes: range, fileBytes: bytes.byteLength, etag: String(bytes.byteLength) });
  };
  const list = Object.keys(files).map((name) => ({ name, bytes: 0, version: null }));
  return { read, readOptional: read, list: () => Promise.resolve(list) };
}

/** Small enough to be written down in zeros. */
const config = {
  ...qwen36Config,
  text_config: { ...qwen36Config.text_config, hidden_size: 64, vocab_size: 256 },
};

/** A safetensors file of zeros. */
function safetensors(shapes: Readonly<Record<string, readonly [number, number]>>): Uint8Array {
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += 2 * shape[0] * shape[1];
    return [name, { dtype: 'BF16', shape, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, Buffer.alloc(end)]);
}

const embedding = { 'model.embed_tokens.weight': [256, 64] } as const;
const fc = { 'mtp.fc.weight': [64, 128] } as const;
const trunk = {
  'config.json': JSON.stringify(config),
  'tokenizer.json': '{}',
  'model.safetensors': safetensors(embedding),
};
const weight_map = { 'model.embed_tokens.weight': 'a.safetensors', 'mtp.fc.weight': 'b.safetensors' };
const paired = {
  'config.json': JSON.stringify(config),
  'model.safetensors.index.json': JSON.stringify({ weight_map }),
  'b.safetensors': safetensors(fc),
};
const uri = 's3://models/fp8/';
const options = {
  dtype: 'auto',
  quantization: 'none',
  speculative: { method: 'mtp', tokens: 3 },
} as const;

describe('a checkpoint without a head', () => {
  const read = (head: Files | null) =>
    readCheckpoint(folder(trunk), null, options, head === null ? null : { uri, files: folder(head) });

  test('is counted with the head of another, of which only the files that hold it are read', async () => {
    const alone = await readCheckpoint(folder(trunk), null, {
      ...options,
      speculative: { method: 'none', tokens: 3 },
    });
    const both = await read(paired);
    expect(both.weightBytes - alone.weightBytes).toBe(64 * 128 * 2);
    expect(both.fileBytes - alone.fileBytes).toBe(paired['b.safetensors'].byteLength);
    expect(both.fingerprint).not.toBe(alone.fingerprint);
  });

  test.each([
    ['without another', null, 'InvalidEngineConfig', 'engine.speculative.uri'],
    ['with one that has none', trunk, 'InvalidEngineConfig', 'no tensor mtp.fc.weight'],
    ['with an empty folder', {}, 'ModelNotFound', uri],
    [
      'with another model',
      { ...paired, 'config.json': JSON.stringify(withVocab(77)) },
      'InvalidEngineConfig',
      'vocab_size 77 where the model has 256',
    ],
    [
      'with a head of another width',
      { ...paired, 'b.safetensors': safetensors({ 'mtp.fc.weight': [8, 16] }) },
      'InvalidEngineConfig',
      '[8, 16] where the model takes [64, 128]',
    ],
  ] as [string, Files | null, string, string][])('%s is refused', async (_, head, reason, message) => {
    await expect(read(head)).rejects.toMatchObject({
      failure: { reason, message: expect.stringContaining(message) as unknown },
    });
  });
});

test('a checkpoint that has a head does not ask for another', async () => {
  const whole = { ...trunk, 'model.safetensors': safetensors({ ...embedding, ...fc }) };
  const asked: CheckpointFiles = {
    ...folder({}),
    read: () => Promise.reject(new Error('the paired checkpoint was read')),
  };
  const { weightBytes } = await readCheckpoint(folder(whole), null, options, { uri, files: asked });
  expect(weightBytes).toBe(256 * 64 * 2 + 64 * 128 * 2);
});

function withVocab(vocab_size: number): object {
  return { ...config, text_config: { ...config.text_config, vocab_size } };
}
