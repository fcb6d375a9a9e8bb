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

describe('a draft model', () => {
  const drafter = {
    ...{ model_type: 'llama', architectures: ['LlamaForCausalLMEagle3'], num_hidden_layers: 1 },
    ...{ hidden_size: 64, intermediate_size: 128, num_attention_heads: 4, num_key_value_heads: 2 },
    ...{
      max_position_embeddings: 2048,
      vocab_size: 256,
      draft_vocab_size: 128,
      eagle_aux_hidden_state_layer_ids: [1, 2, 4],
    },
  };
  const sides = {
    ...{ 'fc.weight': [64, 192], 'norm.weight': [64], 'lm_head.weight': [128, 64] },
    ...{ 'midlayer.input_layernorm.weight': [64], 'midlayer.hidden_norm.weight': [64] },
    ...{ 'midlayer.post_attention_layernorm.weight': [64], 'midlayer.self_attn.q_proj.weight': [64, 128] },
    ...{ 'midlayer.self_attn.k_proj.weight': [32, 128], 'midlayer.self_attn.v_proj.weight': [32, 128] },
    ...{ 'midlayer.self_attn.o_proj.weight': [64, 64], 'midlayer.mlp.gate_proj.weight': [128, 64] },
    ...{ 'midlayer.mlp.up_proj.weight': [128, 64], 'midlayer.mlp.down_proj.weight': [64, 128] },
  };
  const weights = Object.entries(sides).map(([name, shape]) => ({
    ...{ name, dtype: 'BF16', shape, bytes: shape.reduce((product, side) => product * side, 2) },
  }));
  const d2t = { name: 'd2t', dtype: 'I64', shape: [128], bytes: 1024 };
  const files = (changes: object): Files => ({
    'config.json': JSON.stringify({ ...drafter, ...changes }),
    'model.safetensors': safetensors([...weights, d2t]),
  });
  const whole = { ...trunk, 'model.safetensors': safetensors([...wholeTrunk(shape), ...head]) };
  const read = (other: Files | null, accelerator: 'cpu' | 'cuda' = 'cpu') =>
    readCheckpoint(
      folder(whole),
      null,
      { ...options, accelerator, speculative: { method: 'eagle3', tokens: 3 } },
      other === null ? null : { uri, files: folder(other) },
    );

  test('is counted with the model, whose own head is not', async () => {
    const alone = await readCheckpoint(folder(trunk), null, {
      ...options,
      speculative: { method: 'none', tokens: 3 },
    });
    const both = await read(files({}));
    // In panels of 64 rows, which its matrices fill, and vectors in float32.
    const bytes = weights.reduce((sum, each) => sum + (each.shape.length === 1 ? 2 : 1) * each.bytes, 0);
    expect(both.weightBytes - alone.weightBytes).toBe(bytes);
    expect(both.fileBytes).toBeGreaterThan(alone.fileBytes);
    expect(both.model?.weights.drafter?.eagle3?.layers).toEqual([1, 2, 4]);
  });

  test.each([
    ['that is not named', null, 'engine.speculative.uri names no draft model'],
    ['whose vocabulary differs', files({ vocab_size: 300 }), 'vocab_size 300 where the model has 256'],
    ['of another width', files({ hidden_size: 128 }), 'hidden_size 128 where the model has 64'],
  ])('%s is refused', async (_, other, message) => {
    await expect(read(other)).rejects.toMatchObject({
      failure: { reason: 'InvalidEngineConfig', message: expect.stringContaining(message) as unknown },
    });
  });

  test('is read for GPUs, unless they lack kernels for its heads', async () => {
    expect((await read(files({}), 'cuda')).model?.weights.drafter?.eagle3?.vocab).toBe(128);
    const narrow = files({ num_attention_heads: 8, num_key_value_heads: 4 });
    await expect(read(narrow, 'cuda')).rejects.toMatchObject({
      failure: {
        reason: 'UnsupportedArchitecture',
        message: expect.stringContaining(
          'the draft model of engine.speculative.uri: llama runs on CPUs alone',
        ) as unknown,
      },
    });
  });
});

function withVocab(vocab_size: number): object {
  return { ...config, text_config: { ...config.text_config, vocab_size } };
}
