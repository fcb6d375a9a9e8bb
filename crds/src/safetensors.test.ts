import { describe, expect, test } from '@jest/globals';
import { FailureError } from './failures.js';
import { parseCheckpointConfig } from './checkpoint.js';
import { qwen36Config } from './checkpoint.fixture.js';
import { residentWeightBytes } from './resident-weights.js';
import { parseHeaderLength, parseSafetensorsHeader, parseSafetensorsIndex } from './safetensors.js';

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const header = encode({
  __metadata__: { format: 'pt' },
  b: { dtype: 'F32', shape: [3], data_offsets: [8, 20] },
  a: { dtype: 'BF16', shape: [2, 2], data_offsets: [0, 8] },
});
const fileBytes = 8 + header.byteLength + 20;

function lengthBytes(length: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, length, true);
  return bytes;
}

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof FailureError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return 'no failure';
}

describe('safetensors', () => {
  test('lists shards once, with the total size', () => {
    const index = parseSafetensorsIndex(
      JSON.stringify({
        metadata: { total_size: 20 },
        weight_map: { y: 'm-2.safetensors', x: 'm-1.safetensors', z: 'm-2.safetensors' },
      }),
    );
    expect(index.files).toEqual(['m-1.safetensors', 'm-2.safetensors']);
    expect(index.totalSizeBytes).toBe(20);
  });

  test.each([
    ['{}', 'weight_map is missing'],
    ['{"weight_map":{"x":"../../etc/passwd.safetensors"}}', 'weight_map of x'],
    ['nonsense', 'not JSON'],
  ])('refuses the index %s', (text, part) => {
    expect(reasonOf(() => parseSafetensorsIndex(text))).toContain(part);
  });

  test('reads tensors in the order of their data', () => {
    expect(parseSafetensorsHeader('m', header, fileBytes)).toEqual([
      { name: 'a', dtype: 'BF16', shape: [2, 2], bytes: 8 },
      { name: 'b', dtype: 'F32', shape: [3], bytes: 12 },
    ]);
  });

  test('a file shorter than its header says is incomplete, with both sizes', () => {
    const reason = reasonOf(() => parseSafetensorsHeader('m', header, fileBytes - 1));
    expect(reason).toContain('CheckpointIncomplete');
    expect(reason).toContain(`${String(fileBytes - 1)} bytes of the ${String(fileBytes)}`);
  });

  test.each([
    ['trailing bytes', header, fileBytes + 1],
    ['a gap', encode({ a: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }), 100],
    ['a size that the shape denies', encode({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 4] } }), 100],
    ['an unknown dtype', encode({ a: { dtype: 'X', shape: [2], data_offsets: [0, 4] } }), 100],
  ])('%s is corrupt', (_name, bytes, size) => {
    expect(reasonOf(() => parseSafetensorsHeader('m', bytes, size))).toContain('CheckpointCorrupt: m');
  });

  test('a header length beyond the file is corrupt', () => {
    expect(parseHeaderLength('m', lengthBytes(90n), 100)).toBe(90);
    for (const [length, size] of [
      [93n, 100],
      [2n ** 63n, 100],
      [0n, 100],
    ] as const) {
      expect(reasonOf(() => parseHeaderLength('m', lengthBytes(length), size))).toContain(
        'CheckpointCorrupt',
      );
    }
    expect(reasonOf(() => parseHeaderLength('m', new Uint8Array(3), 3))).toContain('fewer than a header');
  });
});

describe('residentWeightBytes', () => {
  const shape = parseCheckpointConfig(qwen36Config);
  const tensors = [
    {
      name: 'model.language_model.layers.0.mlp.up_proj.weight',
      dtype: 'F8_E4M3',
      shape: [256, 128],
      bytes: 32768,
    },
    {
      name: 'model.language_model.layers.0.mlp.up_proj.weight_scale_inv',
      dtype: 'BF16',
      shape: [2, 1],
      bytes: 4,
    },
    { name: 'model.language_model.layers.0.input_layernorm.weight', dtype: 'BF16', shape: [128], bytes: 256 },
    { name: 'lm_head.weight', dtype: 'BF16', shape: [10, 128], bytes: 2560 },
    { name: 'model.visual.patch.weight', dtype: 'BF16', shape: [100, 100], bytes: 20000 },
    { name: 'mtp.fc.weight', dtype: 'BF16', shape: [100, 100], bytes: 20000 },
  ];

  test('skips vision and MTP, keeps FP8 at one byte and widens vectors and scales', () => {
    expect(residentWeightBytes(tensors, shape, 'auto')).toBe(32768 + 2 * 4 + 128 * 4 + 2560);
  });

  test('experts stacked in one tensor are matrices, other tensors of three axes are not', () => {
    const layer = 'model.language_model.layers.0.';
    const stacked = [
      { name: `${layer}mlp.experts.gate_up_proj`, dtype: 'BF16', shape: [4, 6, 8], bytes: 384 },
      { name: `${layer}mlp.experts.down_proj`, dtype: 'BF16', shape: [4, 8, 3], bytes: 192 },
      { name: `${layer}linear_attn.conv1d.weight`, dtype: 'BF16', shape: [16, 1, 4], bytes: 128 },
    ];
    expect(residentWeightBytes(stacked, shape, 'auto')).toBe(384 + 192 + 64 * 4);
  });

  test('float32 doubles unquantized matrices, and a tied head is held once', () => {
    expect(residentWeightBytes(tensors, shape, 'float32')).toBe(32768 + 8 + 512 + 5120);
    expect(residentWeightBytes(tensors, { ...shape, tiedEmbeddings: true }, 'auto')).toBe(32768 + 8 + 512);
  });
});
