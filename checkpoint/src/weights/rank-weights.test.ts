import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '../config/read-config.js';
import { qwen3MoeConfig } from '../config/config.fixture.js';
import { rankWeightBytes, weightBytesByRank } from './rank-weights.js';
import { joinedWeights, residentWeights } from './resident-weights.js';

const shape = parseCheckpointConfig(qwen3MoeConfig);
const options = {
  dtype: 'auto',
  quantization: 'none',
  speculative: { method: 'mtp', tokens: 1 },
} as const;
const layer = 'model.layers.0.';

type Stored = readonly [name: string, dtype: string, ...sides: number[]];

function weightsOf(tensors: readonly Stored[]) {
  const entries = tensors.map(([name, dtype, ...sides]) => ({ name, dtype, shape: sides, bytes: 0 }));
  return residentWeights(entries, shape, options);
}

/** The model has 4 KV heads; bfloat16 matrices in panels of 64 rows. */
describe('the bytes of each rank', () => {
  test.each<[string, readonly Stored[], number, readonly number[]]>([
    ['a norm: all on each', [[`${layer}input_layernorm.weight`, 'BF16', 100]], 2, [400, 400]],
    ['a router: all on each', [[`${layer}mlp.gate.weight`, 'BF16', 128, 64]], 2, [128 * 128, 128 * 128]],
    [
      'q, k and v: heads, in panels together',
      [
        [`${layer}self_attn.q_proj.weight`, 'BF16', 512, 64],
        [`${layer}self_attn.k_proj.weight`, 'BF16', 64, 64],
        [`${layer}self_attn.v_proj.weight`, 'BF16', 64, 64],
      ],
      2,
      // 256 + 32 + 32 rows.
      [320 * 128, 320 * 128],
    ],
    [
      'more ranks than KV heads: a head of 16 on each, twice',
      [
        [`${layer}self_attn.q_proj.weight`, 'BF16', 512, 64],
        [`${layer}self_attn.k_proj.weight`, 'BF16', 64, 64],
        [`${layer}self_attn.v_proj.weight`, 'BF16', 64, 64],
      ],
      8,
      // 64 + 16 + 16 rows.
      Array.from({ length: 8 }, () => 128 * 128),
    ],
    ['o: columns', [[`${layer}self_attn.o_proj.weight`, 'BF16', 64, 512]], 2, [64 * 256 * 2, 64 * 256 * 2]],
    [
      'the bias of what is summed: on the first, that of what is not: divided',
      [
        [`${layer}self_attn.o_proj.bias`, 'BF16', 64],
        [`${layer}self_attn.q_proj.bias`, 'BF16', 64],
      ],
      2,
      [64 * 4 + 32 * 4, 32 * 4],
    ],
    [
      'an odd vocabulary: parts that differ by one, in whole panels',
      [['lm_head.weight', 'BF16', 385, 10]],
      3,
      // 128, 128 and 129 rows.
      [128 * 20, 128 * 20, 192 * 20],
    ],
    [
      'experts: each divided, stacked or not',
      [
        [`${layer}mlp.experts.gate_up_proj`, 'BF16', 4, 512, 10],
        [`${layer}mlp.experts.down_proj`, 'BF16', 4, 10, 256],
      ],
      2,
      [4 * (256 * 20 + 64 * 256), 4 * (256 * 20 + 64 * 256)],
    ],
    [
      'FP8 by block and by row: scales of its own columns, and of all',
      [
        [`${layer}mlp.down_proj.weight`, 'F8_E4M3', 64, 512],
        [`${layer}mlp.down_proj.weight_scale_inv`, 'BF16', 1, 4],
        [`model.layers.1.mlp.down_proj.weight`, 'F8_E4M3', 64, 512],
        [`model.layers.1.mlp.down_proj.weight_scale`, 'BF16', 64, 1],
      ],
      2,
      [64 * (256 + 2 * 4) + 64 * (256 + 4), 64 * (256 + 2 * 4) + 64 * (256 + 4)],
    ],
    [
      'the mixer of multi-token prediction: columns; its norms: all on each',
      [
        ['mtp.fc.weight', 'BF16', 64, 128],
        ['mtp.norm.weight', 'BF16', 64],
      ],
      2,
      [64 * 64 * 2 + 256, 64 * 64 * 2 + 256],
    ],
  ])('%s', (_name, tensors, size, expected) => {
    expect(weightBytesByRank(weightsOf(tensors), size, shape.kvHeads)).toEqual(expected);
  });
});

test('on GPUs neighbours of one type share tiles, as in files of Q4_K_M', () => {
  const mixed = weightsOf([
    [`${layer}self_attn.q_proj.weight`, 'Q4_K', 512, 256],
    [`${layer}self_attn.k_proj.weight`, 'Q4_K', 32, 256],
    [`${layer}self_attn.v_proj.weight`, 'Q6_K', 32, 256],
  ]);
  // 128 columns of a row of Q4_K take 76 bytes, of Q6_K 106; tiles have 64 rows.
  const bytes = 576 * 2 * 76 + 64 * 2 * 106;
  expect(weightBytesByRank(mixed, 1, shape.kvHeads, true)).toEqual([bytes]);
});

test('equal layers are one entry, and a head beside them is counted with them', () => {
  const norms = weightsOf(
    [0, 1, 2].map((i) => [`model.layers.${String(i)}.norm.weight`, 'BF16', 8] as const),
  );
  expect(norms.vectors).toEqual([
    { rows: 8, width: 1, split: 'whole', copies: 3, layers: { 0: 1, 1: 1, 2: 1 } },
  ]);
  const both = joinedWeights(norms, weightsOf([['mtp.norm.weight', 'BF16', 8]]));
  expect(both.vectors).toHaveLength(1);
  expect(rankWeightBytes(both, { rank: 0, size: 1, kvHeads: 4 })).toBe(4 * 8 * 4);
});

/** The native test CodedTest has the same. */
test.each([
  ['Q4_0', 72],
  ['MXFP4', 72],
  ['Q4_1', 80],
  ['INT4', 80],
  ['Q4_K', 76],
  ['Q2_K', 84],
  ['Q3_K', 74],
  ['Q8_0', 136],
  ['Q5_0', 88],
  ['IQ4_NL', 72],
  ['Q6_K', 106],
  ['IQ4_XS', 70],
  ['Q5_K', 92],
  ['Q5_1', 96],
  ['INT8', 144],
])('GPUs hold %s in tiles of 64 rows by 128 columns, %i bytes a row', (dtype, bytes) => {
  const weights = weightsOf([[`${layer}self_attn.o_proj.weight`, dtype, 65, 512]]);
  expect(rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: 4, onGpu: true })).toBe(2 * 64 * 4 * bytes);
});
