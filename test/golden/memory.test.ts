// The memory plan, made from headers alone, against what the engine allocates for the golden models, on one rank and two.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  planMemory,
  residentWeights,
  stageShape,
  stageWeights,
  validTensorParallel,
} from '@llmservice/checkpoint';
import type { EngineOptions } from '@llmservice/native';

import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { openCheckpoint, type LocalCheckpoint } from '@llmservice/checkpoint/local';
import { writeLargeCheckpoint } from '../integration/large-checkpoint.js';
import { runModule } from '../own-process.js';
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
    checkpoint = await openCheckpoint(modelDir);
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

  test('the first of two stages takes what is planned for its layers', async () => {
    const { shape, tensors } = checkpoint;
    const refused = shape.bidirectional || shape.sharedKv !== null || shape.layerEmbeddings !== null;
    if (refused || shape.layerKinds.length < 2) return;
    const [way] = ways;
    const weights = residentWeights(tensors, shape, { ...way, quantization: 'none' });
    const room = { ...sizes, ...way, accelerator: 'cpu', tensor: 1, prefixCaching: true } as const;
    const machine = { memoryBytes: 2 ** 33, memoryUtilizationPercent: 90 };
    const stage = { index: 0, count: 2 };
    const ofStage = { shape: stageShape(shape, stage), weights: stageWeights(weights, shape, stage) };
    const own = planMemory({ ...room, ...machine, ...ofStage });
    const plan = planMemory({ ...room, ...machine, shape, weights, pipeline: 2 });
    const { numBlocks, numStateSnapshots } = plan;
    const engine = await loadGolden(modelDir, { ...sizes, ...way, numBlocks, numStateSnapshots }, 2, 2);
    try {
      const { weightBytes, kvBytesPerBlock, stateBytesPerSeq, workspaceBytes } = own;
      expect(engine.info).toMatchObject({ weightBytes, kvBytesPerBlock, stateBytesPerSeq, workspaceBytes });
      for (const name of ['weightBytes', 'kvBytesPerBlock', 'stateBytesPerSeq', 'workspaceBytes'] as const)
        expect(plan[name]).toBeGreaterThanOrEqual(own[name]);
    } finally {
      await engine.dispose();
    }
  });
});

/**
 * What an engine takes once it is loaded, each rank on a thread: private memory that its process may write (VmData) as
 * the kernel counts it, but for stacks, of which all the room counts there and little is used.
 */
async function privateBytesOf(options: EngineOptions, ranks: number): Promise<number> {
  const printed = await runModule(`
    import { readdirSync, readFileSync } from 'node:fs';
    import { loadEngine, makeSegment, runRank } from '@llmservice/native';
    const nothing = () => undefined;
    const figure = (file, name) =>
      Number(new RegExp(name + '\\\\s+(\\\\d+)').exec(readFileSync('/proc/self/' + file, 'utf8'))[1]);
    const stackBytes = figure('limits', 'Max stack size');
    const taken = () => {
      gc();
      return 1024 * figure('status', 'VmData:') - stackBytes * readdirSync('/proc/self/task').length;
    };
    const before = taken();
    const segment = ${String(ranks)} === 1 ? null : makeSegment(${String(ranks)});
    const optionsOf = (rank) => ({
      ...${JSON.stringify(options)},
      place: segment === null ? null : { rank, size: ${String(ranks)}, segment, nodes: null, stages: null },
    });
    for (let rank = 1; rank < ${String(ranks)}; rank++) void runRank(optionsOf(rank), nothing);
    await loadEngine(optionsOf(0), nothing);
    console.log(taken() - before);
    process.exit(0);`);
  return Number(printed);
}

describe.each([1, 2])('a llama of 0.4 B parameters on %i ranks of a machine of 3 GiB', (tensor) => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'llmservice-memory-'));
    writeLargeCheckpoint(dir);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('takes in all what was planned, within 3 %, as the kernel counts it', async () => {
    const { shape, tensors } = await openCheckpoint(dir);
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
    const options = { ...plainOptions, ...large, ...way, modelDir: dir, numBlocks, numStateSnapshots };
    const taken = await privateBytesOf(options, tensor);
    const off = taken / (planned * tensor) - 1;
    process.stdout.write(
      `${String(tensor)} ranks: planned ${String(planned * tensor)}, taken ${String(taken)} bytes, ${(100 * off).toFixed(2)} %\n`,
    );
    expect(Math.abs(off)).toBeLessThan(0.03);
  });
});
