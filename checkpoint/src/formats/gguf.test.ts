import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { parseGgufHeader } from './gguf-header.js';
import { ggufFile, llamaGguf, type GgufFixture } from './gguf.fixture.js';
import { readGgufHeaders } from './read-gguf-headers.js';
import { residentWeights } from '../weights/resident-weights.js';
import { checkTensorParallel } from '../weights/tensor-parallel.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

function headerOf(fixture: GgufFixture, options = { arrays: false }) {
  const bytes = ggufFile(fixture);
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, options);
  if (header === null) throw new Error('the whole file is there');
  return header;
}

function failureOf(run: () => unknown): string {
  const { reason, message } = thrownBy(FailureError, run);
  return `${reason}: ${message}`;
}

describe('the header of a GGUF file', () => {
  test('has values, arrays where they are wanted, and tensors with their places', () => {
    const header = headerOf(llamaGguf(), { arrays: true });
    expect(header.values.get('llama.rope.freq_base')).toBe(10000.5);
    expect(header.values.get('tokenizer.ggml.merges')).toEqual(['h e', 'l l']);
    expect(headerOf(llamaGguf()).values.has('tokenizer.ggml.merges')).toBe(false);
    const places = header.tensors.map(({ offset, bytes }) => [offset, bytes]);
    expect(places[1]).toEqual([places[0]![0]! + 10 * 32 * 4, 32 * 4]);
  });

  test('is read by ranges that grow until it is whole', async () => {
    const tokens = Array.from({ length: 200_000 }, (_, i) => `token number ${String(i)}`);
    const bytes = ggufFile(llamaGguf({ keys: { 'tokenizer.ggml.tokens': tokens } }));
    const asked: number[] = [];
    const read = (_: string, begin: number, end: number): Promise<Uint8Array> => {
      asked.push(end - begin);
      return Promise.resolve(bytes.subarray(begin, end));
    };
    const file = { name: 'model.gguf', bytes: bytes.length };
    const { header } = await readGgufHeaders([file], read, { arrays: true });
    expect(header.values.get('tokenizer.ggml.tokens')).toEqual(tokens);
    expect(asked).toEqual([2 ** 20, 3 * 2 ** 20, bytes.length - 4 * 2 ** 20]);
  });

  test('is given up where the file ends while it is read', async () => {
    const bytes = ggufFile(llamaGguf({ keys: { 'tokenizer.ggml.tokens': Array(200_000).fill('a token') } }));
    const read = (_: string, begin: number, end: number): Promise<Uint8Array> =>
      Promise.resolve(begin === 0 ? bytes.subarray(begin, end) : new Uint8Array());
    const reading = (fileBytes: number) =>
      readGgufHeaders([{ name: 'model.gguf', bytes: fileBytes }], read, { arrays: false });
    await expect(reading(bytes.length)).rejects.toThrow(
      `model.gguf: no bytes at 1048576 of ${String(bytes.length)}`,
    );
    await expect(reading(0)).rejects.toThrow('no bytes at 0');
  });

  test.each<[string, Partial<GgufFixture>, string]>([
    ['an odd alignment', { keys: { 'general.alignment': 48 } }, 'general.alignment is 48'],
    [
      'more data than the file',
      { tensors: { 'output.weight': { type: 0, shape: [10, 32000], bytes: 0 } } },
      'tensor output.weight reaches byte',
    ],
    [
      'rows that blocks do not divide',
      { tensors: { 'output.weight': { type: 12, shape: [10, 32], bytes: 0 } } },
      'output.weight has rows of 32 columns, which blocks of 256',
    ],
    [
      'a side of zero',
      { tensors: { 'output.weight': { type: 0, shape: [10, 0], bytes: 0 } } },
      'output.weight has the sides 10, 0',
    ],
    [
      'five sides',
      { tensors: { 'output.weight': { type: 0, shape: [1, 1, 1, 1, 1], bytes: 4 } } },
      'output.weight has 5 dimensions',
    ],
  ])('is refused with %s', (_, changes, expected) => {
    const said = failureOf(() => headerOf(llamaGguf(changes)));
    expect(said).toMatch(/^CheckpointCorrupt: model\.gguf: /);
    expect(said).toContain(expected);
  });

  test('is refused when the file ends anywhere within it', () => {
    const whole = ggufFile(llamaGguf());
    const headerEnd = headerOf(llamaGguf()).tensors[0]!.offset;
    for (let bytes = 0; bytes < headerEnd; bytes += 7) {
      const cut = whole.subarray(0, bytes);
      const said = failureOf(() => parseGgufHeader('model.gguf', cut, bytes, { arrays: true }));
      expect(said).toMatch(/^CheckpointCorrupt: model\.gguf: /);
    }
  });
});

/** Sizes as gguf-py has them (GGML_QUANT_SIZES). */
test.each([
  [2, 'Q4_0', 32, 18],
  [3, 'Q4_1', 32, 20],
  [6, 'Q5_0', 32, 22],
  [7, 'Q5_1', 32, 24],
  [8, 'Q8_0', 32, 34],
  [12, 'Q4_K', 256, 144],
  [14, 'Q6_K', 256, 210],
  [13, 'Q5_K', 256, 176],
  [10, 'Q2_K', 256, 84],
  [11, 'Q3_K', 256, 110],
  [20, 'IQ4_NL', 32, 18],
  [23, 'IQ4_XS', 256, 136],
  [39, 'MXFP4', 32, 17],
  [40, 'NVFP4', 64, 36],
])('of type %i, which is %s, blocks of %i columns have %i bytes', (type, dtype, columns, blockBytes) => {
  const file = (sides: readonly [number, number], bytes: number) =>
    headerOf(llamaGguf({ tensors: { 'output.weight': { type, shape: sides, bytes } } })).tensors.at(-1);
  const bytes = 64 * blockBytes;
  expect(file([32, 2 * columns], bytes)).toMatchObject({ name: 'output.weight', dtype, bytes });
  const truncated = 'tensor output.weight reaches byte';
  expect(failureOf(() => file([32, 2 * columns], bytes - 32))).toContain(truncated);
  expect(failureOf(() => file([32, columns + 16], bytes))).toContain(
    `output.weight has rows of ${String(columns + 16)} columns, which blocks of ${String(columns)} (${dtype})`,
  );
});

test('arrays of more elements than any vocabulary are refused before they are read', () => {
  const header = (type: number, elementBytes: number, count: number): Buffer => {
    const key = Buffer.from('a');
    const bytes = Buffer.alloc(24 + 8 + key.length + 4 + 4 + 8 + count * elementBytes);
    bytes.write('GGUF');
    bytes.writeUInt32LE(3, 4);
    bytes.writeBigUInt64LE(1n, 16);
    bytes.writeBigUInt64LE(BigInt(key.length), 24);
    key.copy(bytes, 32);
    bytes.writeUInt32LE(9, 33);
    bytes.writeUInt32LE(type, 37);
    bytes.writeBigUInt64LE(BigInt(count), 41);
    return bytes;
  };
  const problem = 'with the value of key a its arrays have more than 4194304 elements';
  for (const [type, bytes, arrays] of [
    [0, 1, true],
    [8, 8, true],
    [8, 8, false],
  ] as const) {
    const file = header(type, bytes, 2 ** 22 + 1);
    expect(() => parseGgufHeader('m', file, file.length, { arrays })).toThrow(problem);
  }
});

/** Those of the fixture, of another architecture. */
function keysOf(architecture: string): GgufFixture['keys'] {
  const own = Object.entries(llamaGguf().keys).map(([key, value]) => [
    key.replace(/^llama\./, `${architecture}.`),
    value,
  ]);
  return { ...(Object.fromEntries(own) as GgufFixture['keys']), 'general.architecture': architecture };
}

describe('a GGUF file as a checkpoint', () => {
  test('has a shape, and tensors under the names of safetensors checkpoints', () => {
    const { shape, tensors } = readGgufCheckpoint(headerOf(llamaGguf()));
    expect(shape).toMatchObject({
      ...{ architecture: 'llama', hidden: 32, heads: 4, kvHeads: 2, headDim: 8, ffn: 64, vocab: 10 },
      ...{ tiedEmbeddings: true, quantization: 'none', maxPositionEmbeddings: 64 },
    });
    expect(tensors).toContainEqual(
      expect.objectContaining({
        name: 'model.layers.0.self_attn.k_proj.weight',
        dtype: 'F32',
        shape: [16, 32],
      }),
    );
  });

  test('is Mixtral where a llama has experts', () => {
    const keys = { 'llama.expert_count': 8, 'llama.expert_used_count': 2 };
    expect(readGgufCheckpoint(headerOf(llamaGguf({ keys }))).shape).toMatchObject({
      architecture: 'mixtral',
      moe: { experts: 8, topK: 2, ffn: 64, normalized: true },
    });
  });

  test('is gpt-oss with the fields that no key has', () => {
    const keys = {
      ...keysOf('gpt-oss'),
      'gpt-oss.attention.sliding_window': 128,
      ...{
        'gpt-oss.expert_count': 8,
        'gpt-oss.expert_used_count': 2,
        'gpt-oss.expert_feed_forward_length': 48,
      },
      ...{ 'gpt-oss.rope.scaling.type': 'yarn', 'gpt-oss.rope.scaling.factor': 32 },
      ...{ 'gpt-oss.rope.scaling.original_context_length': 4096, 'gpt-oss.expert_gating_func': 3 },
    };
    const tensors = { 'blk.0.attn_q.bias': { type: 0, shape: [32], bytes: 128 } };
    expect(readGgufCheckpoint(headerOf(llamaGguf({ keys, tensors }))).shape).toMatchObject({
      ...{ architecture: 'gpt_oss', attentionSinks: true, qkvBias: true, outputBias: true },
      moe: { experts: 8, topK: 2, ffn: 48, biases: true, clampedSwiglu: { limit: 7, alpha: 1.702 } },
    });
  });

  test.each([
    [1, 32],
    [46, 8],
  ])('is Gemma 2 of %i layers, whose queries are scaled as those of %i features', (layers, queryScalar) => {
    const keys = {
      ...keysOf('gemma2'),
      ...{ 'gemma2.attention.key_length': 32, 'gemma2.attention.value_length': 32 },
      ...{ 'gemma2.attn_logit_softcapping': 50, 'gemma2.final_logit_softcapping': 30 },
      ...{ 'gemma2.block_count': layers },
    };
    const bytes = 32 * 4;
    const tensors = Object.fromEntries(
      Array.from({ length: layers }, (_, i) => [
        `blk.${String(i)}.post_ffw_norm.weight`,
        { type: 0, shape: [32], bytes },
      ]),
    );
    const { shape, tensors: named } = readGgufCheckpoint(headerOf(llamaGguf({ keys, tensors })));
    expect(shape).toMatchObject({
      ...{ architecture: 'gemma2', scoreCap: 50, logitCap: 30, unitOffsetNorm: false, postNorms: true },
      queryScalar,
    });
    expect(shape.windows.slice(0, 2)).toEqual([4096, 0].slice(0, layers));
    const names = named.map(({ name }) => name);
    for (const norm of ['pre_feedforward_layernorm', 'post_feedforward_layernorm'])
      expect(names).toContain(`model.layers.0.${norm}.weight`);
  });

  test('counts as quantized from the first block type on, whose blocks ranks do not cut', () => {
    const q8 = { type: 8, shape: [32, 64], bytes: 2 * 34 * 32 };
    const header = headerOf(llamaGguf({ tensors: { 'blk.0.ffn_down.weight': q8 } }));
    const { shape, tensors } = readGgufCheckpoint(header);
    expect(shape).toMatchObject({ quantization: 'gguf' });
    const weights = residentWeights(tensors, shape, {
      dtype: 'auto',
      quantization: 'none',
      speculative: { method: 'none', tokens: 3 },
    });
    expect(() => checkTensorParallel(shape, weights, 2)).not.toThrow();
    expect(() => checkTensorParallel(shape, weights, 4)).toThrow('64 scaled in blocks of 32 columns');
  });

  test.each<[string, Partial<GgufFixture>, string, string]>([
    [
      'an unknown architecture',
      { keys: { 'general.architecture': 'gemma' } },
      'UnsupportedArchitecture',
      'supported in GGUF files: llama, qwen2, qwen3',
    ],
    [
      'a missing key',
      { keys: { 'llama.embedding_length': 'x' } },
      'CheckpointCorrupt',
      'llama.embedding_length is not a positive integer',
    ],
    [
      'more layers than tensors',
      { keys: { 'llama.block_count': 4_000_000 } },
      'CheckpointCorrupt',
      'llama.block_count is 4000000, more than',
    ],
    [
      'a type that is not read',
      { tensors: { 'blk.0.ffn_up.weight': { type: 16, shape: [64, 32], bytes: 0 } } },
      'UnsupportedQuantization',
      'blk.0.ffn_up.weight has type IQ2_XXS; supported in GGUF files: F32, F16, BF16, Q8_0',
    ],
    [
      'a tensor of another model',
      { tensors: { 'blk.0.attn_sinks.weight': { type: 0, shape: [4], bytes: 16 } } },
      'UnsupportedArchitecture',
      'blk.0.attn_sinks.weight',
    ],
    [
      'experts one by one, as old files of Mixtral have them',
      {
        keys: { 'llama.expert_count': 8, 'llama.expert_used_count': 2 },
        tensors: { 'blk.0.ffn_gate.0.weight': { type: 0, shape: [64, 32], bytes: 8192 } },
      },
      'UnsupportedArchitecture',
      'tensor blk.0.ffn_gate.0.weight is not one that llama has here',
    ],
    [
      'biases beside experts',
      {
        keys: { 'llama.expert_count': 8, 'llama.expert_used_count': 2 },
        tensors: { 'blk.0.attn_q.bias': { type: 0, shape: [32], bytes: 128 } },
      },
      'UnsupportedArchitecture',
      'it has biases of attention, which mixtral does not have here',
    ],
  ])('is refused with %s', (_, changes, reason, expected) => {
    const said = failureOf(() => readGgufCheckpoint(headerOf(llamaGguf(changes))));
    expect(said.startsWith(reason)).toBe(true);
    expect(said).toContain(expected);
  });
});
