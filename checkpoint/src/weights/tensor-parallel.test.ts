import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { qwen35MoeConfig } from '../config/config.fixture.js';
import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { residentWeights } from './resident-weights.js';
import { checkTensorParallel, validTensorParallel } from './tensor-parallel.js';

const cpu = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 0 } } as const;
const shape = parseCheckpointConfig(qwen35MoeConfig);
const up: readonly number[] = [512, 2048];
const down: readonly number[] = [2048, 512];
const ranks = (all: readonly number[]): number[] => all.filter((each) => [1, 2, 4, 8].includes(each));

function weightsOf(
  at: string,
  sides: readonly number[],
  parts: Readonly<Record<string, readonly unknown[]>>,
) {
  const tensors = Object.entries(parts).map(([suffix, [dtype, ...own]]) => {
    const entry: TensorEntry = {
      ...{ name: `${at}.weight${suffix}`, dtype: String(dtype) },
      ...{ shape: own.length === 0 ? sides : (own as number[]), bytes: 0 },
    };
    return entry;
  });
  return residentWeights(tensors, shape, cpu);
}

describe('a shared expert of 512 columns', () => {
  const at = 'model.layers.0.mlp.shared_expert.down_proj';

  test('in FP8 blocks of 128 goes to four ranks, whose shards are blocks, and not to eight', () => {
    const weights = weightsOf(at, down, { '': ['F8_E4M3'], _scale_inv: ['BF16', 16, 4] });
    expect(ranks(validTensorParallel(shape, weights))).toEqual([1, 2, 4]);
    const { reason, message } = thrownBy(FailureError, () => {
      checkTensorParallel(shape, weights, 8);
    });
    expect(reason).toBe('ParallelismInvalid');
    expect(message).toContain('a width of 512 scaled in blocks of 128 columns');
    expect(message).toMatch(/values that work: 1, 2, 4$/);
  });

  test.each([
    ['FP8 by row', down, { '': ['F8_E4M3'], _scale: ['F32', 2048, 1] }],
    ['BF16', down, { '': ['BF16'] }],
    ['NVFP4', down, { '': ['U8', 2048, 256], _scale: ['F8_E4M3', 2048, 32], _scale_2: ['F32', 1] }],
  ])('in %s goes to eight', (_, sides, parts) => {
    expect(ranks(validTensorParallel(shape, weightsOf(at, sides, parts)))).toEqual([1, 2, 4, 8]);
  });

  test('may be cut within blocks of rows, whose scales go with both ranks', () => {
    const gate = 'model.layers.0.mlp.shared_expert.gate_proj';
    const weights = weightsOf(gate, up, { '': ['F8_E4M3'], _scale_inv: ['BF16', 4, 16] });
    expect(ranks(validTensorParallel(shape, weights))).toEqual([1, 2, 4, 8]);
  });
});

describe('value heads in rounds over all key heads', () => {
  const gdn = { ...shape.gdn!, kHeads: 16, vHeads: 48, vDim: 128, tiled: true };
  const tiled: ModelShape = { ...shape, gdn, quantization: 'gguf' };
  const out = { name: 'model.layers.0.linear_attn.out_proj.weight', shape: [2048, 6144], bytes: 0 };
  const weightsIn = (dtype: string) => residentWeights([{ ...out, dtype }], tiled, cpu);

  test('give each rank whole blocks of each round', () => {
    expect(ranks(validTensorParallel(tiled, weightsIn('Q8_0')))).toEqual([1, 2, 4, 8]);
    const wide: ModelShape = { ...tiled, gdn: { ...gdn, kHeads: 8, vHeads: 48 } };
    const weights = residentWeights([{ ...out, dtype: 'Q4_K' }], wide, cpu);
    expect(ranks(validTensorParallel(wide, weights))).toEqual([1, 2, 4]);
    expect(() => {
      checkTensorParallel(wide, weights, 8);
    }).toThrow(
      'a width of 6144 of linear_attn.out_proj, in 6 rounds over all key heads, scaled in blocks of 256 columns',
    );
  });
});
