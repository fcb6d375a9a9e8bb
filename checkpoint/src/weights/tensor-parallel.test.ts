import { describe, expect, test } from '@jest/globals';
import { qwen35MoeConfig } from '../config/config.fixture.js';
import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import { residentWeights } from './resident-weights.js';
import { checkTensorParallel, validTensorParallel } from './tensor-parallel.js';

const cpu = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 0 } } as const;
const shape = parseCheckpointConfig(qwen35MoeConfig);
const ranks = (all: readonly number[]): number[] => all.filter((each) => [1, 2, 4, 8].includes(each));

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
