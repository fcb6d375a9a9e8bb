import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import { parseCheckpointConfig } from '../config/read-config.js';
import {
  euroBertConfig,
  gptOssConfig,
  qwen35MoeConfig,
  qwen36Config,
  qwen3MoeConfig,
} from '../config/config.fixture.js';
import type { MemoryPlanInput } from './memory-parts.js';
import { planMemory, type MemoryPlan } from './memory-plan.js';
import { evenWeights, splitByColumns } from '../weights/resident-weights.fixture.js';
import { sharedMemoryNeeded } from './shared-memory.js';
import { validTensorParallel } from '../weights/tensor-parallel.js';
import type { Held } from '../weights/resident-weights.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

const gib = 1024 ** 3;
const shape = parseCheckpointConfig(qwen36Config);

/** The reference deployment: two MI300X partitions of 48 GiB, FP8 matrices and BF16 tables of about 29 GB. */
const reference: MemoryPlanInput = {
  shape,
  accelerator: 'hip',
  weights: evenWeights(29e9),
  memoryBytes: 48 * gib,
  memoryUtilizationPercent: 85,
  tensor: 2,
  maxModelLen: 32768,
  maxNumSeqs: 64,
  maxNumBatchedTokens: 8192,
  blockSize: 64,
  prefixCaching: true,
  dtype: 'auto',
  speculative: { method: 'none', tokens: 3 },
  kvCacheDtype: 'auto',
};

const failureOf = (input: MemoryPlanInput): FailureError => thrownBy(FailureError, () => planMemory(input));

describe('planMemory', () => {
  test('the 27B on one rank: 65,536 bytes of KV per token, 151 MB of S and 5.9 MB of conv tail per sequence', () => {
    const plan = planMemory({ ...reference, tensor: 1, memoryBytes: 192 * gib });
    expect(plan.kvBytesPerToken).toBe(16 * 2 * 4 * 256 * 2);
    expect(plan.stateBytesPerSeq).toBe(150_994_944 + 5_898_240);
    expect(plan.stateBytes).toBe(64 * plan.stateBytesPerSeq);
  });

  test('two ranks halve weights, state and KV', () => {
    const plan = planMemory(reference);
    expect(plan.weightBytes).toBe(14.5e9);
    expect(plan.kvBytesPerToken).toBe(32768);
    expect(plan.stateBytesPerSeq).toBe(156_893_184 / 2);
    expect(plan.kvBytesPerBlock).toBe(64 * 32768);
  });

  test('the workspace is what the engine lays out: one row and one mark of health per token of a step, 32 rows of logits', () => {
    const cpu = planMemory({ ...reference, accelerator: 'cpu', tensor: 1, memoryBytes: 192 * gib });
    const perRow = 4 * 5120 + 2 * 17408 + 2 * 48 + 17408 + 64 + 1;
    expect(cpu.workspaceBytes).toBe(8192 * perRow * 4 + 32 * 248320 * 4);
  });

  test('states for the prefix cache take a fifth of what the longest sequence leaves, at most 4 per sequence', () => {
    const plan = planMemory(reference);
    const others = plan.weightBytes + plan.stateBytes + plan.workspaceBytes + gib;
    const spare = Math.floor(48 * gib * 0.85) - others - 512 * plan.kvBytesPerBlock;
    expect(plan.numStateSnapshots).toBe(Math.floor((spare * 0.2) / plan.stateBytesPerSeq));
    expect(plan.stateSnapshotBytes).toBe(plan.numStateSnapshots * plan.stateBytesPerSeq);
    expect(plan.rows).toContainEqual(
      expect.objectContaining({ name: 'state snapshots', bytes: plan.stateSnapshotBytes }),
    );
    expect(planMemory({ ...reference, memoryBytes: 192 * gib }).numStateSnapshots).toBe(4 * 64);
  });

  test.each([
    ['without prefix caching', { prefixCaching: false }],
    ['where the longest sequence takes all', { maxModelLen: null, memoryBytes: 30 * gib }],
  ])('%s there are none', (_, changes) => {
    expect(planMemory({ ...reference, ...changes }).numStateSnapshots).toBe(0);
  });

  test.each([
    // Whole rows, those gathered for experts too; widest projection; GDN's gates; heads; 8 ids and weights; angles.
    ['qwen3_5_moe', qwen35MoeConfig, 5 * 2048 + (2 * 4096 + 4096) + 2 * 32 + 4096 + 2 * 8 + 64, 248320],
    ['qwen3_moe', qwen3MoeConfig, 5 * 2048 + (4096 + 1024) + 4096 + 2 * 8 + 128, 151936],
    // One dense layer's gate and up are wider.
    [
      'qwen3_moe with a dense layer',
      { ...qwen3MoeConfig, mlp_only_layers: [0] },
      5 * 2048 + 2 * 6144 + 6144 + 2 * 8 + 128,
      151936,
    ],
  ])('the workspace of %s has room for the experts', (_name, config, perRow, vocab) => {
    const plan = planMemory({
      ...{ ...reference, shape: parseCheckpointConfig(config), accelerator: 'cpu', tensor: 1 },
      memoryBytes: 192 * gib,
    });
    expect(plan.workspaceBytes).toBe(8192 * (perRow + 1) * 4 + 32 * vocab * 4);
  });

  test('the rows add up to what may be used', () => {
    const plan = planMemory(reference);
    const sum = plan.rows.reduce((total, row) => total + row.bytes, 0);
    expect(sum).toBe(Math.floor(48 * gib * 0.85));
    expect(plan.rows.every((row) => row.bytes >= 0)).toBe(true);
  });

  test('without maxModelLen the largest that fits is taken, at most what the checkpoint was made for', () => {
    const roomy = planMemory({ ...reference, maxModelLen: null, memoryBytes: 192 * gib });
    expect(roomy.maxModelLen).toBe(262144);
    const tight = planMemory({ ...reference, maxModelLen: null, memoryBytes: 30 * gib });
    expect(tight.maxModelLen).toBeLessThan(262144);
    expect(tight.maxModelLen % 64).toBe(0);
    expect(tight.maxConcurrencyAtMaxLen).toBe(1);
  });

  test.each([
    ['the 27B on 192 GiB', shape, 192, 262144],
    // Attention in every layer: 98,304 bytes of KV per token.
    [
      'the 30B-A3B on 192 GiB',
      { ...parseCheckpointConfig(qwen3MoeConfig), maxPositionEmbeddings: 262144 },
      192,
      262144,
    ],
    ['the 27B on 40 GiB', shape, 40, null],
  ] as const)('262,144 positions on %s, where memory allows', (_name, of, memory, longest) => {
    const input = { ...reference, shape: of, tensor: 1, memoryBytes: memory * gib, maxNumSeqs: 4 };
    if (longest === null) {
      expect(failureOf({ ...input, maxModelLen: 262144 }).reason).toBe('KvCacheTooSmall');
      return;
    }
    const plan = planMemory({ ...input, maxModelLen: longest });
    expect(plan.numBlocks).toBeGreaterThanOrEqual(longest / 64);
    expect(plan.workspaceBytes).toBe(planMemory({ ...input, maxModelLen: 1024 }).workspaceBytes);
  });

  test('no more blocks than maxNumSeqs sequences could fill', () => {
    const plan = planMemory({ ...reference, memoryBytes: 192 * gib, maxModelLen: 100, maxNumSeqs: 3 });
    expect(plan.numBlocks).toBe(6);
    expect(plan.maxConcurrencyAtMaxLen).toBe(3);
  });

  test('a context that does not fit names the one that does, and that one holds', () => {
    const input = { ...reference, memoryBytes: 30 * gib, maxModelLen: 262144 };
    const failure = failureOf(input);
    expect(failure.reason).toBe('KvCacheTooSmall');
    const fits = Number(failure.detail?.['fits']);
    expect(planMemory({ ...input, maxModelLen: fits }).maxModelLen).toBe(fits);
    expect(failureOf({ ...input, maxModelLen: fits + 1 }).reason).toBe('KvCacheTooSmall');
    expect(failure.message).toContain('engine.kvCacheDtype fp8');
    expect(planMemory({ ...input, kvCacheDtype: 'fp8' }).maxModelLen).toBe(262144);
  });

  test('a model that is too large names remedies, and each of them holds', () => {
    const input = { ...reference, tensor: 1, memoryBytes: 40 * gib, maxNumSeqs: 64 };
    const failure = failureOf(input);
    expect(failure.reason).toBe('ModelTooLarge');
    const tensor = Number(/parallelism\.tensor (\d+)/.exec(failure.message)?.[1]);
    expect(planMemory({ ...input, tensor }).numBlocks).toBeGreaterThan(0);
    const memory = Number(failure.detail?.['needed']) / 0.85 + 1;
    expect(planMemory({ ...input, memoryBytes: memory, maxModelLen: null }).maxModelLen).toBe(64);
  });

  test('float32 doubles the KV cache', () => {
    const plan = planMemory({ ...reference, dtype: 'float32' });
    expect(plan.kvBytesPerToken).toBe(2 * 32768);
  });

  test('fp8 KV has a byte per value and a scale per token and head, and holds nearly twice the context', () => {
    const roomy = { ...reference, tensor: 1, memoryBytes: 192 * gib };
    expect(planMemory({ ...roomy, kvCacheDtype: 'fp8' }).kvBytesPerToken).toBe(16 * 2 * 4 * (256 + 4));
    const tight = { ...reference, maxModelLen: null, memoryBytes: 22 * gib, maxNumSeqs: 8 };
    const fits = planMemory(tight).maxModelLen;
    const fitsInFp8 = planMemory({ ...tight, kvCacheDtype: 'fp8' }).maxModelLen;
    expect(fitsInFp8).toBeLessThan(262144);
    expect(fitsInFp8 / fits).toBeCloseTo((2 * 256) / (256 + 4), 2);
    expect(planMemory({ ...tight, dtype: 'float32', kvCacheDtype: 'fp8' }).maxModelLen).toBe(fitsInFp8);
  });

  test('KV heads replicate beyond one per rank', () => {
    const plan = planMemory({ ...reference, tensor: 8 });
    expect(plan.kvBytesPerToken).toBe(16 * 2 * 1 * 256 * 2);
  });

  // 64 + 112 + 64 + 16 MiB at rest and 256 MiB at work are 536,870,912; 6,144 x 248,320 ids are 1,525,678,080. Of two ranks
  // each has 64 MiB of its own and half of the rest: 67,108,864 + 234,881,024 + 762,839,040.
  test('on the CPU each pod of several has memory for its ranks, and the areas of all in it', () => {
    const four = { ...reference, accelerator: 'cpu', tensor: 4, memoryBytes: 30 * gib } as const;
    const { rows } = planMemory({ ...four, nodes: 4 });
    const bytesOf = (name: RegExp) => rows.find((row) => name.test(row.name))?.bytes;
    expect(bytesOf(/shm|shared/)).toBe(sharedMemoryNeeded(4));
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeGreaterThan(0.85 * 30 * gib - 2 ** 20);
    expect(failureOf(four).reason).toBe('ModelTooLarge');
  });

  test('on the CPU the processes beside the engine are counted, once for all ranks', () => {
    const one = { ...reference, accelerator: 'cpu', tensor: 1, memoryBytes: 96 * gib } as const;
    const reserved = (input: MemoryPlanInput) =>
      planMemory(input).rows.find(({ name }) => name === 'reserved');
    expect(reserved(one)!.bytes).toBe(2_096_103_424);
    expect(reserved({ ...one, tensor: 2 })!.bytes).toBe(1_081_606_144);
    expect(reserved(reference)!.bytes).toBe(gib);
  });

  test('ranks on the CPU share its memory equally, and what they exchange data over', () => {
    const one = { ...reference, accelerator: 'cpu' as const, tensor: 1, memoryBytes: 96 * gib };
    const two = planMemory({ ...one, tensor: 2 });
    const sum = two.rows.reduce((total, row) => total + row.bytes, 0);
    expect(sum).toBe(Math.floor((96 * gib * 0.85) / 2));
    const shared = (plan: MemoryPlan) => plan.rows.find(({ name }) => name === 'shared memory')!;
    expect(shared(two).bytes).toBe(sharedMemoryNeeded(2) / 2);
    expect(shared(two).note).toContain(`${String(sharedMemoryNeeded(2))} bytes in /dev/shm`);
    expect(shared(planMemory(one)).bytes).toBe(0);
    const failure = failureOf({ ...one, tensor: 2, memoryBytes: 24 * gib });
    expect(failure.message).toMatch(/24\.00 GiB shared by 2 ranks.*GiB of the machine/);
    expect(failure.message).not.toContain('parallelism.tensor');
  });

  test('ranks whose columns would cut FP8 blocks are refused, naming the widths and the values that work', () => {
    const narrow: ModelShape = { ...shape, ffn: 17408 - 1024 - 128 };
    const down = (held: Held) => splitByColumns(5120, narrow.ffn, held);
    expect(validTensorParallel(narrow, down('fp8Block'))).toEqual([1]);
    // Groups of 16 share a scale, and 16,256 is 16 x 1016.
    expect(validTensorParallel(narrow, down('nvfp4'))).toEqual([1, 2, 4, 8]);
    expect(validTensorParallel(narrow, down('bfloat16'))).toEqual([1, 2, 4, 8]);
    const failure = failureOf({ ...reference, shape: narrow, weights: down('fp8Block') });
    expect(failure.reason).toBe('ParallelismInvalid');
    expect(failure.message).toContain('a width of 16256 scaled in blocks of 128 columns');
  });

  test('a tensor-parallel size that does not divide is refused with those that do', () => {
    expect(validTensorParallel(shape, reference.weights)).toEqual([1, 2, 4, 8]);
    const failure = failureOf({ ...reference, tensor: 3 });
    expect(failure.reason).toBe('ParallelismInvalid');
    expect(failure.message).toContain('values that work: 1, 2, 4, 8');
  });

  test('ranks divide the width of every expert', () => {
    const moe = parseCheckpointConfig({ ...qwen3MoeConfig, moe_intermediate_size: 6 });
    expect(validTensorParallel(moe, reference.weights)).toEqual([1, 2]);
    const failure = failureOf({ ...reference, shape: moe, tensor: 4 });
    expect(failure.reason).toBe('ParallelismInvalid');
    expect(failure.message).toContain('FFN 6)');
  });

  test('a context beyond what the checkpoint was made for is refused with both numbers', () => {
    const failure = failureOf({ ...reference, memoryBytes: 192 * gib, maxModelLen: 300000 });
    expect(failure.reason).toBe('InvalidEngineConfig');
    expect(failure.detail).toEqual({ maxModelLen: 300000, maxPositionEmbeddings: 262144 });
  });
});

test('a plan of a GPU that lacks operations of the model is refused before anything else is checked', () => {
  const wide = { ...parseCheckpointConfig(gptOssConfig), headDim: 528 };
  const failure = thrownBy(FailureError, () =>
    planMemory({ ...reference, shape: wide, accelerator: 'cuda', tensor: 7, memoryBytes: 0 }),
  );
  expect(failure.message).toContain('gpt_oss runs on CPUs alone');
});

describe('an encoder', () => {
  const encoder: MemoryPlanInput = {
    ...reference,
    shape: parseCheckpointConfig(euroBertConfig),
    accelerator: 'cpu',
    weights: evenWeights(4e8),
    memoryBytes: 8 * gib,
    tensor: 1,
    maxModelLen: null,
  };

  test('has the KV of one layer, as much as a step fills, and no context beyond a step', () => {
    const plan = planMemory(encoder);
    expect(plan.kvBytesPerToken).toBe(2 * 12 * 64 * 2);
    expect(plan).toMatchObject({ maxModelLen: 8192, numBlocks: 128 + 63, maxConcurrencyAtMaxLen: 1 });
    expect(planMemory({ ...encoder, maxNumBatchedTokens: 1024 })).toMatchObject({ maxModelLen: 1024 });
  });

  test('is refused a context that no step holds, with what would do', () => {
    const { reason, message } = failureOf({ ...encoder, maxModelLen: 4096, maxNumBatchedTokens: 2048 });
    expect([reason, message]).toEqual([
      'InvalidEngineConfig',
      'engine.maxModelLen 4096 is more than engine.maxNumBatchedTokens 2048, but eurobert reads a text in one step: ' +
        'raise maxNumBatchedTokens, or lower maxModelLen',
    ]);
    expect(failureOf({ ...encoder, maxModelLen: 9000, maxNumBatchedTokens: 16384 }).message).toContain(
      '8192 positions of the checkpoint',
    );
  });
});
