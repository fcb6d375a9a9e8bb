import { describe, expect, test } from '@jest/globals';
import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { qwen36Config } from '../config/config.fixture.js';
import { rankWeightBytes } from './rank-weights.js';
import { residentWeights } from './resident-weights.js';

const speculative = { method: 'none', tokens: 3 } as const;
const shape: ModelShape = { ...parseCheckpointConfig(qwen36Config), quantization: 'none' };
const layer = 'model.language_model.layers.0.';

/** On one rank. */
function residentWeightBytes(...args: Parameters<typeof residentWeights>): number {
  return rankWeightBytes(residentWeights(...args), { rank: 0, size: 1, kvHeads: shape.kvHeads });
}

function tensor(name: string, dtype: string, ...sides: number[]) {
  return { name, dtype, shape: sides, bytes: 0 };
}

/** 100 rows take 128: whole panels of 64. */
const matrices = [
  ['BF16', [tensor(`${layer}mlp.down_proj.weight`, 'BF16', 100, 256)], 128 * 256 * 2],
  ['F16', [tensor(`${layer}mlp.down_proj.weight`, 'F16', 100, 256)], 128 * 256 * 2],
  [
    'FP8 by block: a float per row and 128 columns',
    [
      tensor(`${layer}mlp.down_proj.weight`, 'F8_E4M3', 100, 300),
      tensor(`${layer}mlp.down_proj.weight_scale_inv`, 'BF16', 1, 3),
    ],
    128 * (300 + 3 * 4),
  ],
  [
    'FP8 by tensor: a float per row',
    [
      tensor(`${layer}mlp.down_proj.weight`, 'F8_E4M3', 100, 300),
      tensor(`${layer}mlp.down_proj.weight_scale`, 'F32'),
      tensor(`${layer}mlp.down_proj.input_scale`, 'F32'),
    ],
    128 * (300 + 4),
  ],
  [
    'FP8 by row: a float per row',
    [
      tensor(`${layer}mlp.down_proj.weight`, 'F8_E4M3', 100, 300),
      tensor(`${layer}mlp.down_proj.weight_scale`, 'BF16', 100, 1),
    ],
    128 * (300 + 4),
  ],
  [
    'NVFP4: half a byte, a sixteenth of one, and a float per row',
    [
      tensor(`${layer}mlp.down_proj.weight_packed`, 'U8', 100, 160),
      tensor(`${layer}mlp.down_proj.weight_scale`, 'F8_E4M3', 100, 20),
      tensor(`${layer}mlp.down_proj.weight_global_scale`, 'F32', 1),
    ],
    128 * (160 + 20 + 4),
  ],
  [
    'q, k and v as one',
    ['q_proj', 'k_proj', 'v_proj'].map((name) => tensor(`${layer}self_attn.${name}.weight`, 'BF16', 20, 8)),
    64 * 8 * 2,
  ],
  [
    'gate and up of different layers apart',
    [0, 1].flatMap((i) =>
      ['gate', 'up'].map((name) =>
        tensor(`model.layers.${String(i)}.mlp.${name}_proj.weight`, 'BF16', 32, 8),
      ),
    ),
    2 * 64 * 8 * 2,
  ],
  ['vectors, widened', [tensor(`${layer}linear_attn.conv1d.weight`, 'BF16', 10, 1, 4)], 160],
  [
    'nothing of vision, MTP and rotary tables',
    [
      tensor('model.visual.patch.weight', 'BF16', 100, 100),
      tensor('mtp.fc.weight', 'BF16', 100, 100),
      tensor('model.layers.0.self_attn.rotary_emb.inv_freq', 'F32', 64),
    ],
    0,
  ],
] as const;

describe('on one rank', () => {
  test.each(matrices)('%s', (_name, tensors, expected) => {
    expect(residentWeightBytes(tensors, shape, { dtype: 'auto', quantization: 'none', speculative })).toBe(
      expected,
    );
  });

  test('float32 widens unquantized matrices', () => {
    const [[, down]] = matrices;
    expect(residentWeightBytes(down, shape, { dtype: 'float32', quantization: 'none', speculative })).toBe(
      128 * 256 * 4,
    );
  });

  test('a tied head is held once', () => {
    const tensors = [tensor('lm_head.weight', 'BF16', 64, 128)];
    const options = { dtype: 'auto', quantization: 'none', speculative } as const;
    expect(residentWeightBytes(tensors, shape, options)).toBe(64 * 128 * 2);
    expect(residentWeightBytes(tensors, { ...shape, tiedEmbeddings: true }, options)).toBe(0);
  });

  test('quantization at load takes projections, not tables, and leaves a quantized checkpoint alone', () => {
    const [[, down]] = matrices;
    const tensors = [...down, tensor('lm_head.weight', 'BF16', 64, 128)];
    const held = (quantization: 'fp8' | 'int8', of = shape) =>
      residentWeightBytes(tensors, of, { dtype: 'auto', quantization, speculative });
    expect(held('fp8')).toBe(128 * (256 + 2 * 4) + 64 * 128 * 2);
    expect(held('int8')).toBe(128 * (256 + 4) + 64 * 128 * 2);
    expect(held('fp8', parseCheckpointConfig(qwen36Config))).toBe(128 * 256 * 2 + 64 * 128 * 2);
  });

  test('experts stacked in NVFP4 are refused by name', () => {
    const stack = tensor(`${layer}mlp.experts.gate_up_proj`, 'U8', 4, 100, 64);
    expect(() =>
      residentWeightBytes([stack], shape, { dtype: 'auto', quantization: 'none', speculative }),
    ).toThrow(new RegExp(`${stack.name} stacks experts in NVFP4`));
  });
});
