// Three answers for the reference deployment, worked by hand: Qwen3.6-27B-FP8 with its settings (helmfile.d/values).
//
// One rank of two, in bytes. A panel has 64 rows; an FP8 row has its columns and four bytes per 128 of them.
//   tables      2 x 124,160 rows x 5,120 x 2                                         2,542,796,800
//   attention   16 x (7,168 rows [q, gate, k, v] x 5,280 + 5,120 x 3,168 + 2,048)      865,107,968
//   recurrent   48 x (8,192 [q, k, v, z] x 5,280 + 64 [b, a] x 10,240 + 5,120 x 3,168
//                     + (5,120 x 4 + 48 + 128) x 4)                                  2,890,171,392
//   MLP         64 x (17,408 x 5,280 + 5,120 x 8,976)                                8,823,767,040
//   norms       129 x 5,120 x 4                                                          2,641,920
//   weights                                                                         15,124,485,120
//
// State of a sequence: 48 layers x (5,120 channels x 3 + 24 heads x 128 x 128) x 4 = 78,446,592;
// of 256: 20,082,327,552.
// Workspace of 32,768 rows: a row has 4 x 5,120 + 17,408 [gate, up] + 48 gates + 8,704 values of 2 bytes, 64 angles of
// 4 and a mark of 4: 93,540 bytes; and 32 rows of 248,320 + 124,160 logits of 4:
// 3,065,118,720 + 47,677,440 = 3,112,796,160.
// KV of a token: 16 layers x 2 x 2 heads x 256 x 2 = 32,768; a block of 64: 2,097,152. Device context: 1,073,741,824.
// All but KV: 39,393,350,656.

import { describe, expect, test } from '@jest/globals';
import { findAccelerator } from './accelerators.js';
import { parseCheckpointConfig } from './checkpoint.js';
import { qwen36Config } from './checkpoint.fixture.js';
import { FailureError } from './failures.js';
import type { MemoryPlanInput } from './memory-parts.js';
import { planMemory } from './memory-plan.js';
import { qwen36Tensors } from './qwen36-tensors.fixture.js';
import { residentWeights } from './resident-weights.js';
import { thrownBy } from './thrown-by.fixture.js';

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
    expect(failure.detail).toEqual({ needed: 39_393_350_656 + 2_097_152, available: 21_902_550_630 });
    expect(failure.message).toContain(
      'one rank needs 36.69 GiB (weights 14.09 GiB, recurrent state 18.70 GiB, workspace 2.90 GiB, reserved 1.00 GiB, ' +
        'one KV block) but may use 20.40 GiB (85 % of 24.00 GiB)',
    );
  });

  // 16 sequences leave 21,902,550,630 - (39,393,350,656 - 240 x 78,446,592) = 1,336,382,054 bytes, and 512 blocks of
  // the context take 1,073,741,824; 32 leave 81,236,582. Memory: (39,393,350,656 + 1,073,741,824) / 0.85 = 44.34 GiB.
  test('each remedy holds', () => {
    expect(remediesOf(input)).toEqual([
      'engine.maxNumSeqs 16',
      'parallelism.tensor 4',
      'memory of at least 44.34 GiB per device',
    ]);
    expect(planMemory({ ...input, maxNumSeqs: 16 }).maxModelLen).toBe(32768);
    expect(planMemory({ ...input, tensor: 4 }).maxConcurrencyAtMaxLen).toBeGreaterThanOrEqual(1);
    expect(planMemory({ ...input, memoryBytes: 44.34 * 1024 ** 3 }).maxConcurrencyAtMaxLen).toBe(1);
  });

  // 1,336,382,054 / 2,097,152 = 637.2 blocks.
  test('with 16 sequences the largest context is 637 blocks', () => {
    expect(planMemory({ ...input, maxNumSeqs: 16, maxModelLen: null }).maxModelLen).toBe(637 * 64);
  });
});

describe('on two partitions of 48 GB (mi300x-qpx-nps4: 49,148 MiB, of which 85 % are 43,805,101,260 bytes)', () => {
  const device = ['mi300x-qpx-nps4', 2] as const;

  // 43,805,101,260 - 39,393,350,656 = 4,411,750,604 bytes, 2,103.7 blocks.
  test('it fits, with a context of at most 2,103 blocks', () => {
    expect(planMemory(on(...device, null))).toMatchObject({
      weightBytes: 15_124_485_120,
      stateBytes: 20_082_327_552,
      workspaceBytes: 3_112_796_160,
      kvBytesPerBlock: 2_097_152,
      maxModelLen: 2103 * 64,
    });
  });

  // Beside one sequence's 512 blocks there are 3,338,008,780 bytes, a fifth of which hold 8 states for the prefix
  // cache; (4,411,750,604 - 8 x 78,446,592) / 2,097,152 = 1,804.4 blocks, 3 times 512.
  test('holds 3 sequences of 32,768 tokens at once', () => {
    expect(planMemory(on(...device, 32768))).toMatchObject({
      numStateSnapshots: 8,
      numBlocks: 1804,
      maxConcurrencyAtMaxLen: 3,
    });
  });

  test('what the checkpoint was made for, 262,144, does not fit: five single changes would do', () => {
    const input = on(...device, 262144);
    expect(thrownBy(FailureError, () => planMemory(input)).reason).toBe('KvCacheTooSmall');
    expect(remediesOf(input)).toEqual([
      'engine.maxModelLen 134592',
      'engine.memoryUtilizationPercent 94',
      'engine.maxNumSeqs 128',
      'engine.kvCacheDtype fp8',
      'parallelism.tensor 4',
    ]);
    for (const change of [
      { maxModelLen: 134592 },
      { memoryUtilizationPercent: 94 },
      { maxNumSeqs: 128 },
      { kvCacheDtype: 'fp8' },
      { tensor: 4 },
    ] as const) {
      expect(planMemory({ ...input, ...change }).maxConcurrencyAtMaxLen).toBeGreaterThanOrEqual(1);
    }
  });
});

// One rank: weights 30,246,270,976, state 256 x 156,893,184 = 40,164,655,104, a row of the workspace 145,860 bytes and
// 32 x 248,320 x 4 of logits: 4,811,325,440 in all, device context 1,073,741,824: 98,924,411,699 are left. KV of a
// block: 4,194,304. Beside 512 blocks a fifth is 123 states: (98,924,411,699 - 123 x 156,893,184) / 4,194,304 =
// 18,984.4 blocks.
describe('on one device of 192 GB (mi300x: 196,592 MiB, of which 85 % are 175,220,405,043 bytes)', () => {
  const device = ['mi300x', 1] as const;

  test('it fits with all 262,144 positions, four times', () => {
    expect(planMemory(on(...device, null))).toMatchObject({
      weightBytes: 30_246_270_976,
      stateBytes: 40_164_655_104,
      maxModelLen: 262_144,
      maxConcurrencyAtMaxLen: 4,
    });
  });

  test('holds 37 sequences of 32,768 tokens at once', () => {
    expect(planMemory(on(...device, 32768))).toMatchObject({
      kvBytesPerBlock: 4_194_304,
      numStateSnapshots: 123,
      numBlocks: 18_984,
      maxConcurrencyAtMaxLen: 37,
    });
  });
});
