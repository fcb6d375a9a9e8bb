import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { residentWeights } from '../weights/resident-weights.js';
import { readGgufCheckpoint } from './gguf-checkpoint.js';
import { parseGgufHeader } from './gguf-header.js';
import { storedBytes } from './gguf-nvfp4.js';
import { ggufFile, llamaGguf, type GgufFixture } from './gguf.fixture.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

const down = 'blk.0.ffn_down.weight';
const blocks = { type: 40, shape: [32, 64], bytes: 32 * 36 };
const scale = { type: 0, shape: [1], bytes: 4 };

function checkpointOf(tensors: GgufFixture['tensors'], keys: GgufFixture['keys'] = {}) {
  const bytes = ggufFile(llamaGguf({ keys, tensors }));
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: false });
  if (header === null) throw new Error('the whole file is there');
  return readGgufCheckpoint(header);
}

describe('a matrix of NVFP4 in a GGUF file', () => {
  const at = 'model.layers.0.mlp.down_proj';
  const cpu = { dtype: 'auto', quantization: 'none', speculative: { method: 'none', tokens: 0 } } as const;

  test('is its codes, the scales of its groups, and the scale of the tensor that the file has', () => {
    const { shape, tensors } = checkpointOf({
      [down]: blocks,
      'blk.0.ffn_down.scale': scale,
      'blk.0.ffn_down.input_scale': scale,
    });
    expect(shape.quantization).toBe('gguf');
    const own = tensors.filter(({ name }) => name.startsWith(at));
    expect(own).toMatchObject([
      { name: `${at}.weight`, dtype: 'U8', shape: [32, 32], bytes: 1024, blockPart: 'codes' },
      { name: `${at}.weight_scale`, dtype: 'F8_E4M3', shape: [32, 4], bytes: 128, blockPart: 'scales' },
      { name: `${at}.weight_scale_2`, dtype: 'F32', shape: [1], bytes: 4 },
    ]);
    expect(own[0]!.offset).toBe(own[1]!.offset);
    expect(own.map(storedBytes)).toEqual([32 * 36, 128, 4]);
    const { matrices } = residentWeights(tensors, shape, cpu);
    expect(matrices).toContainEqual(
      expect.objectContaining({ cols: 64, parts: [{ rows: 32, held: 'nvfp4', split: 'columns' }] }),
    );
  });

  test('has a scale of one where the file has none, and rows of llama’s queries go back into their order', () => {
    const { tensors } = checkpointOf({
      'blk.0.attn_output.weight': { type: 40, shape: [32, 64], bytes: 32 * 36 },
      'blk.0.attn_q.weight': { type: 40, shape: [32, 64], bytes: 32 * 36 },
    });
    const [codes, scales, ones] = tensors.filter(({ name }) => name.includes('q_proj'));
    expect([codes!.restoration, scales!.restoration]).toEqual(['halvedRows', 'halvedRows']);
    expect(ones).toMatchObject({ dtype: 'F32', shape: [1], blockPart: 'ones', restoration: null });
  });

  test('may be a stack of experts, with a scale for each', () => {
    const keys = { 'llama.expert_count': 2, 'llama.expert_used_count': 1 };
    const stack = { type: 40, shape: [2, 32, 64], bytes: 64 * 36 };
    const { shape, tensors } = checkpointOf({ 'blk.0.ffn_down_exps.weight': stack }, keys);
    const name = 'model.layers.0.mlp.experts.down_proj';
    const own = tensors.filter((tensor) => tensor.name.startsWith(name));
    expect(own).toMatchObject([
      { shape: [2, 32, 32] },
      { name: `${name}_scale`, shape: [2, 32, 4] },
      { name: `${name}_scale_2`, shape: [2], bytes: 8 },
    ]);
    expect(residentWeights(own, shape, cpu).matrices).toMatchObject([{ copies: 2, cols: 64 }]);
  });

  test.each<[string, GgufFixture['tensors'], string, string]>([
    [
      'a scale of another type',
      { 'blk.0.ffn_down.scale': scale },
      'UnsupportedQuantization',
      'tensor blk.0.ffn_down.scale scales blk.0.ffn_down.weight, which is F32',
    ],
    [
      'a scale of no tensor',
      { 'blk.0.ffn_mid.scale': scale },
      'UnsupportedQuantization',
      'tensor blk.0.ffn_mid.scale scales no tensor of the file',
    ],
    [
      'two scales of one matrix',
      { [down]: blocks, 'blk.0.ffn_down.scale': { type: 0, shape: [2], bytes: 8 } },
      'CheckpointCorrupt',
      'tensor blk.0.ffn_down.scale has shape [2] where blk.0.ffn_down.weight of shape [32, 64] takes [1]',
    ],
  ])('is refused with %s', (_, tensors, reason, message) => {
    const failure = thrownBy(FailureError, () => checkpointOf(tensors));
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(message);
  });
});
