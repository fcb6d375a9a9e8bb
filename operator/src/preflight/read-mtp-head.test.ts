import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig, type TensorEntry } from '@llmservice/checkpoint';
import { qwen36Config } from '../../../checkpoint/src/config/config.fixture.js';
import { wholeHead, wholeTrunk } from '../../../checkpoint/src/weights/whole-tensors.fixture.js';
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
const { text_config: text, ...outer } = qwen36Config;
const small = { num_hidden_layers: 4, hidden_size: 64, vocab_size: 256, intermediate_size: 128 };
const config = { ...outer, quantization_config: undefined, text_config: { ...text, ...small } };
const shape = parseCheckpointConfig(config);

/** A safetensors file of zeros. */
function safetensors(tensors: readonly TensorEntry[]): Uint8Array {
  let end = 0;
  const entries = tensors.map(({ name, dtype, shape: sides, bytes }) => {
    const begin = end;
    end += bytes;
    return [name, { dtype, shape: sides, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, Buffer.alloc(end)]);
}

const head = wholeHead(shape);
const trunk = {
  'config.json': JSON.stringify(config),
  'tokenizer.json': '{}',
  'model.safetensors': safetensors(wholeTrunk(shape)),
};
const weight_map = {
  'model.embed_tokens.weight': 'a.safetensors',
  ...Object.fromEntries(head.map(({ name }) => [name, 'b.safetensors'])),
};
/** In panels of 64 rows, which all its matrices fill, and vectors in float32. */
const headBytes = head.reduce(
  (sum, { bytes, shape: sides }) => sum + (sides.length === 1 ? 2 * bytes : bytes),
  0,
);
const paired = {
  'config.json': JSON.stringify(config),
  'model.safetensors.index.json': JSON.stringify({ weight_map }),
  'b.safetensors': safetensors(head),
};
const uri = 's3://models/fp8/';
const options = {
  accelerator: 'cpu',
  dtype: 'auto',
  quantization: 'none',
  speculative: { method: 'mtp', tokens: 3 },
} as const;

describe('a checkpoint without a head', () => {
  const read = (other: Files | null) =>
    readCheckpoint(folder(trunk), null, options, other === null ? null : { uri, files: folder(other) });

  test('is counted with the head of another, of which only the files that hold it are read', async () => {
    const alone = await readCheckpoint(folder(trunk), null, {
      ...options,
      speculative: { method: 'none', tokens: 3 },
    });
    const both = await read(paired);
    expect(both.weightBytes - alone.weightBytes).toBe(headBytes);
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
      {
        ...paired,
        'b.safetensors': safetensors([{ name: 'mtp.fc.weight', dtype: 'BF16', shape: [8, 16], bytes: 256 }]),
      },
      'InvalidEngineConfig',
      '[8, 16] where the model takes [64, 128]',
    ],
    [
      'with a head that lacks a tensor',
      { ...paired, 'b.safetensors': safetensors(head.slice(0, -1)) },
      'CheckpointIncomplete',
      'no tensor mtp.layers.0.mlp.down_proj.weight',
    ],
  ] as [string, Files | null, string, string][])('%s is refused', async (_, other, reason, message) => {
    await expect(read(other)).rejects.toMatchObject({
      failure: { reason, message: expect.stringContaining(message) as unknown },
    });
  });
});

test('a checkpoint that has a head does not ask for another', async () => {
  const whole = { ...trunk, 'model.safetensors': safetensors([...wholeTrunk(shape), ...head]) };
  const asked: CheckpointFiles = {
    ...folder({}),
    read: () => Promise.reject(new Error('the paired checkpoint was read')),
  };
  const own = await readCheckpoint(folder(whole), null, options, { uri, files: asked });
  const joined = await readCheckpoint(folder(trunk), null, options, { uri, files: folder(paired) });
  expect(own.weightBytes).toBe(joined.weightBytes);
});

function withVocab(vocab_size: number): object {
  return { ...config, text_config: { ...config.text_config, vocab_size } };
}
