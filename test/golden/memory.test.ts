// The memory plan, made from headers alone, against what the engine allocates for the golden models, on one rank and two.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { planMemory, residentWeights, validTensorParallel } from '@llmservice/crds';

import {
  readLocalCheckpoint,
  type LocalCheckpoint,
} from '../../runtime/src/checkpoint/read-local-checkpoint.js';
import { writeLargeCheckpoint } from '../integration/large-checkpoint.js';
import { loadGolden } from './engine-driver.js';
import { hasMtp, modelsDir } from './reference-bar.js';

jest.setTimeout(120_000);

const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };

const none = { method: 'none', tokens: 0 } as const;
const ways = [
  { dtype: 'bfloat16', kvCacheDtype: 'auto', speculative: none },
  { dtype: 'float32', kvCacheDtype: 'auto', speculative: none },
  { dtype: 'bfloat16', kvCacheDtype: 'fp8', speculative: none },
  { dtype: 'bfloat16', kvCacheDtype: 'auto', speculative: { method: 'ngram', tokens: 3 } },
  { dtype: 'bfloat16', kvCacheDtype: 'fp8', speculative: { method: 'mtp', tokens: 2 } },
] as const;

describe.each(readdirSync(modelsDir))('%s', (model) => {
  const modelDir = modelsDir + model;
  let checkpoint: LocalCheckpoint;
  beforeAll(async () => {
    checkpoint = await readLocalCheckpoint(modelDir);
  });

  const possible = ways.filter(({ speculative: { method } }) => method !== 'mtp' || hasMtp(model));
  test.each(possible)('takes the weights, KV, state and workspace that were planned: %j', async (way) => {
    const { shape, tensors } = checkpoint;
    const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
    for (const tensor of validTensorParallel(shape, weights).filter((ranks) => ranks <= 2)) {
      const plan = planMemory({
        ...{ ...sizes, ...way, accelerator: 'cpu', tensor, weights, shape, prefixCaching: true },
        memoryBytes: 2 ** 33,
        memoryUtilizationPercent: 90,
      });
      const { numBlocks, numStateSnapshots, weightBytes, kvBytesPerBlock } = plan;
      const { stateBytes, stateBytesPerSeq, workspaceBytes } = plan;
      const engine = await loadGolden(modelDir, { ...sizes, ...way, numBlocks, numStateSnapshots }, tensor);
      try {
        expect(engine.info).toMatchObject({ kvBytesPerBlock, stateBytesPerSeq, workspaceBytes });
        expect((stateBytesPerSeq + engine.info.draftBytesPerSeq) * sizes.maxNumSeqs).toBe(stateBytes);
        // The first rank's, which may have a row of the vocabulary less than another: at most a panel of 64.
        const panel = 64 * shape.hidden * 4 * 2;
        expect(weightBytes - engine.info.weightBytes).toBeGreaterThanOrEqual(0);
        expect(weightBytes - engine.info.weightBytes).toBeLessThanOrEqual(tensor === 1 ? 0 : panel);
      } finally {
        await engine.dispose();
      }
    }
  });
});

/** Private memory that this process may write, stacks and heaps included: VmData as the kernel counts it. */
function privateBytes(): number {
  const [, kib = ''] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kib) * 1024;
}

describe.each([1, 2])('a llama of 0.4 B parameters on %i ranks of a machine of 3 GiB', (tensor) => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'llmservice-memory-'));
    writeLargeCheckpoint(dir);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('takes in all what was planned, within 3 %, as the kernel counts it', async () => {
    const { shape, tensors } = await readLocalCheckpoint(dir);
    const way = { dtype: 'auto', kvCacheDtype: 'auto', speculative: none } as const;
    const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
    const large = { ...sizes, maxNumSeqs: 16, maxModelLen: 32768 };
    const { rows, numBlocks, numStateSnapshots } = planMemory({
      ...{ ...large, ...way, accelerator: 'cpu', tensor, weights, prefixCaching: true },
      // Positions cost nothing here: KV takes all that is left.
      shape: { ...shape, maxPositionEmbeddings: 32768 },
      memoryBytes: 3 * 2 ** 30,
      memoryUtilizationPercent: 90,
    });
    const beside = ['reserved', 'shared memory', 'free'];
    const planned = rows.reduce((sum, { name, bytes }) => (beside.includes(name) ? sum : sum + bytes), 0);
    const before = privateBytes();
    const engine = await loadGolden(dir, { ...large, ...way, numBlocks, numStateSnapshots }, tensor);
    try {
      const taken = privateBytes() - before;
      const off = taken / (planned * tensor) - 1;
      process.stdout.write(
        `${String(tensor)} ranks: planned ${String(planned * tensor)}, taken ${String(taken)} bytes, ${(100 * off).toFixed(2)} %\n`,
      );
      expect(Math.abs(off)).toBeLessThan(0.03);
    } finally {
      await engine.dispose();
    }
  });
});
