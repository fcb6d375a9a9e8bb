// Three answers for the reference deployment, worked by hand: Qwen3.6-27B-FP8 with its settings (helmfile.d/values).
//
// One rank of two, in bytes. A tile has 64 rows of 128 bytes; FP8 has four bytes more for each 64 rows and 128 columns.
//   tables      2 x 124,160 rows x 5,120 x 2                                         2,542,796,800
//   attention   16 x (7,168 rows [q, gate, k, v] x 5,120 + 112 x 40 x 4
//                     + 5,120 x 3,072 + 80 x 24 x 4 + 2,048)                           839,303,168
//   recurrent   48 x (8,192 [q, k, v, z] x 5,120 + 128 x 40 x 4 + 64 [b, a] x 10,240
//                     + 5,120 x 3,072 + 80 x 24 x 4 + (5,120 x 4 + 48 + 128) x 4)    2,805,015,552
//   MLP         64 x (17,408 x 5,120 + 272 x 40 x 4 + 5,120 x 8,704 + 80 x 68 x 4)   8,560,558,080
//   norms       129 x 5,120 x 4                                                          2,641,920
//   weights                                                                         14,750,315,520
//
// State of a sequence: 48 layers x (5,120 channels x 3 + 24 heads x 128 x 128) x 4 = 78,446,592;
// of 256: 20,082,327,552.
// Workspace of 32,768 rows: a row has 4 x 5,120 + 17,408 [gate, up] + 48 gates + 8,704 values and 64 angles of 4 bytes
// and a mark of 4: 186,820 bytes; and 32 rows of 248,320 + 124,160 logits of 4: 6,121,717,760 + 47,677,440. Beside it
//   activations for BF16 matrices, 80 records of 128 a row     335,544,320, and counters 65,536
//   splits of attention, at most                               268,435,456
//   chunks of 24 heads, 512 x 24 x 5,376 x 4                   264,241,152
//   lists, 32,768 x 384 + 256 x (256 + 4,096 x 4) + 65,536      16,908,288
//   sampling, 32 x (61 x 272 + 12,296 + 248,320 x 8) + 1,280    64,495,616
//   its lists, 512 x 72 + 32 x 31,040 + 131,072 x 8              2,078,720
//   what is drawn, (32,768 + 256) x 192                          6,340,608
//   workspace in all                                         7,127,504,896
// KV of a token: 16 layers x 2 x 2 heads x 256 x 2 = 32,768; a block of 64: 2,097,152. Device context: 1,073,741,824.
// All but KV: 43,033,889,792.

import { describe, expect, test } from '@jest/globals';
import { findAccelerator, FailureError } from '@llmservice/crds';
import { parseCheckpointConfig } from '../config/read-config.js';
import { qwen36Config } from '../config/config.fixture.js';
import type { MemoryPlanInput } from './memory-parts.js';
import { planMemory } from './memory-plan.js';
import { qwen36Tensors } from '../weights/qwen36-tensors.fixture.js';
import { residentWeights } from '../weights/resident-weights.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

const shape = parseCheckpointConfig(qwen36Config);
const speculative = { method: 'none', tokens: 3 } as const;

function on(profile: string, tensor: number, maxModelLen: number | null): MemoryPlanInput {
  return {
    shape,
    accelerator: 'hip',
    weights: residentWeights(qwen36Tensors, shape, { dtype: 'auto', quantization: 'none', speculative }),
    memoryBytes: findAccelerator(profile)!.memoryMiB * 1024 ** 2,
    memoryUtilizationPercent: 85,
    tensor,
    maxModelLen,
    maxNumSeqs: 256,
    maxNumBatchedTokens: 32768,
    blockSize: 64,
    prefixCaching: true,
    dtype: 'auto',
    speculative,
    kvCacheDtype: 'auto',
  };
}

const remediesOf = (input: MemoryPlanInput): string[] =>
  thrownBy(FailureError, () => planMemory(input))
    .message.replace(/^.*Any of these would do: /, '')
    .split('; ');

describe('on two partitions of 24 GB (mi300x-cpx-nps4: 24,574 MiB, of which 85 % are 21,902,550,630 bytes)', () => {
  const input = on('mi300x-cpx-nps4', 2, 32768);

  test('it does not fit: state of 256 sequences alone is nearly all', () => {
    const failure = thrownBy(FailureError, () => planMemory(input));
    expect(failure.reason).toBe('ModelTooLarge');
    expect(failure.detail).toEqual({ needed: 43_033_889_792 + 2_097_152, available: 21_902_550_630 });
    expect(failure.message).toContain(
      'one rank needs 40.08 GiB (weights 13.74 GiB, recurrent state 18.70 GiB, workspace 6.64 GiB, reserved 1.00 GiB, ' +
        'one KV block) but may use 20.40 GiB (85 % of 24.00 GiB)',
    );
  });

  // Memory: (43,033,889,792 + 512 blocks of 2,097,152) / 0.85 = 48.33 GiB.
  test('each remedy holds', () => {
    expect(remediesOf(input)).toEqual(['parallelism.tensor 8', 'memory of at least 48.33 GiB per device']);
    expect(planMemory({ ...input, tensor: 8 }).maxConcurrencyAtMaxLen).toBeGreaterThanOrEqual(1);
    expect(planMemory({ ...input, memoryBytes: 48.33 * 1024 ** 3 }).maxConcurrencyAtMaxLen).toBe(1);
  });

  // 16,384 rows take 3,753,241,856 bytes. 21,902,550,630 - 14,750,315,520 - 16 x 78,446,592 - 3,753,241,856 -
  // 1,073,741,824 = 1,070,105,958 bytes, 510.3 blocks.
  test('with 16 sequences and 16,384 rows the largest context is 510 blocks', () => {
    const less = { ...input, maxNumSeqs: 16, maxNumBatchedTokens: 16384 };
    expect(planMemory({ ...less, maxModelLen: null }).maxModelLen).toBe(510 * 64);
  });
});

describe('on two partitions of 48 GB (mi300x-qpx-nps4: 49,148 MiB, of which 85 % are 43,805,101,260 bytes)', () => {
  const device = ['mi300x-qpx-nps4', 2] as const;

  // 43,805,101,260 - 43,033,889,792 = 771,211,468 bytes, 367.7 blocks.
  test('it fits, with a context of at most 367 blocks', () => {
    expect(planMemory(on(...device, null))).toMatchObject({
      weightBytes: 14_750_315_520,
      stateBytes: 20_082_327_552,
      workspaceBytes: 7_127_504_896,
      kvBytesPerBlock: 2_097_152,
      maxModelLen: 367 * 64,
    });
  });

  // 16,384 rows take 3,757,316,096 bytes, and 4,141,400,268 are left. Beside one sequence's 512 blocks there are
  // 3,067,658,444, a fifth of which hold 7 states for the prefix cache; (4,141,400,268 - 7 x 78,446,592) / 2,097,152 =
  // 1,712.9 blocks, 3 times 512.
  test('holds 3 sequences of 32,768 tokens at once, with steps of 16,384 rows', () => {
    expect(planMemory({ ...on(...device, 32768), maxNumBatchedTokens: 16384 })).toMatchObject({
      numStateSnapshots: 7,
      numBlocks: 1712,
      maxConcurrencyAtMaxLen: 3,
    });
  });

  test('what the checkpoint was made for, 262,144, does not fit: three single changes would do', () => {
    const input = on(...device, 262144);
    expect(thrownBy(FailureError, () => planMemory(input)).reason).toBe('KvCacheTooSmall');
    expect(remediesOf(input)).toEqual([
      'engine.maxModelLen 23488',
      'engine.maxNumSeqs 128',
      'parallelism.tensor 4',
    ]);
    for (const change of [{ maxModelLen: 23488 }, { maxNumSeqs: 128 }, { tensor: 4 }] as const) {
      expect(planMemory({ ...input, ...change }).maxConcurrencyAtMaxLen).toBeGreaterThanOrEqual(1);
    }
  });
});

// One rank: weights 29,497,931,776, state 256 x 156,893,184 = 40,164,655,104. A row of the workspace has 291,460 bytes,
// and 32 x 248,320 x 4 are of logits: 9,582,346,240; beside it 588,251,136 + 65,536 for activations of 17,408 codes,
// 268,435,456 for attention, 528,482,304 for chunks of 48 heads, 18,987,008 for lists and 70,836,224 for sampling: 11,057,403,904 in all.
// Device context 1,073,741,824: 93,426,672,435 are left. KV of a block: 4,194,304. Beside 512 blocks a fifth is 116 states:
// (93,426,672,435 - 116 x 156,893,184) / 4,194,304 = 17,935.5 blocks.
describe('on one device of 192 GB (mi300x: 196,592 MiB, of which 85 % are 175,220,405,043 bytes)', () => {
  const device = ['mi300x', 1] as const;

  test('it fits with all 262,144 positions, four times', () => {
    expect(planMemory(on(...device, null))).toMatchObject({
      weightBytes: 29_497_931_776,
      stateBytes: 40_164_655_104,
      maxModelLen: 262_144,
      maxConcurrencyAtMaxLen: 4,
    });
  });

  test('holds 35 sequences of 32,768 tokens at once', () => {
    expect(planMemory(on(...device, 32768))).toMatchObject({
      kvBytesPerBlock: 4_194_304,
      numStateSnapshots: 116,
      numBlocks: 17_935,
      maxConcurrencyAtMaxLen: 35,
    });
  });
});
