// Draft models on golden models, EAGLE-3's and whole ones: what they propose is what an independent implementation proposes, what is
// said is what is said without, to the bit, and what they take is what was planned.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { planMemory, weighCheckpoint } from '@llmservice/checkpoint';
import { openCheckpoint, openDraftModel, openEagle3 } from '@llmservice/checkpoint/local';
import { cpuIsas, type Engine, type EngineOptions } from '@llmservice/native';

import { readStoredTensors, storedFile } from '../builders/stored-tensors.js';
import { drafts, type DrafterMethod, expectProposals, readDrafter } from './drafter-proposals.js';
import { greedy, loadGolden, run, type Generated } from './engine-driver.js';
import { job, modelsDir, readGolden, tolerance } from './reference-bar.js';

jest.setTimeout(120_000);

const draftersDir = fileURLToPath(new URL('drafters/', import.meta.url));
const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const folder = mkdtempSync(join(tmpdir(), 'llmservice-drafters-'));
afterAll(() => rmSync(folder, { recursive: true }));

const drawn = {
  ...greedy,
  temperature: 0.9,
  topP: 0.95,
  seed: 3n,
  repetitionPenalty: 1.1,
  frequencyPenalty: 0.2,
};

async function load(
  base: string,
  headDir: string | null,
  how: Partial<EngineOptions>,
  ranks = 1,
  method: DrafterMethod = 'eagle3',
): Promise<Engine> {
  const speculative =
    headDir === null
      ? ({ method: 'none', tokens: 0 } as const)
      : ({ method, tokens: drafts, headDir } as const);
  return loadGolden(modelsDir + base, { isa, dtype: 'float32', threads: 1, speculative, ...how }, ranks);
}

async function within<T>(engine: Engine, work: (engine: Engine) => Promise<T>): Promise<T> {
  return work(engine).finally(() => engine.dispose());
}

async function answers(engine: Engine, base: string, count: number): Promise<Generated[]> {
  const jobs = readGolden(base).greedy.flatMap(({ prompt }, i) => [
    job(2 * i, prompt, { count: 24, chunk: 64, joinsAt: i }),
    job(2 * i + 1, prompt, { count: 24, chunk: 64, joinsAt: i, sampling: drawn }),
  ]);
  return run(engine, jobs, count);
}

describe.each(readdirSync(draftersDir))('%s', (name) => {
  const { base, runs, right, method = 'eagle3' } = readDrafter(draftersDir + name);
  const headDir = draftersDir + name;

  test.each([1, 2])(
    'proposes on %i ranks what the reference proposes, up to the first close call',
    async (ranks) => {
      const { compared } = await within(await load(base, headDir, {}, ranks, method), (engine) =>
        expectProposals(engine, readGolden(base).greedy, { runs }, { close: tolerance.float32, count: 25 }),
      );
      expect(compared).toBeGreaterThan(60);
    },
  );

  test.each([
    ['bfloat16', 1],
    ['float32', 2],
  ] as const)('in %s on %i ranks says what is said without, to the bit', async (dtype, ranks) => {
    const plain = await within(await load(base, null, { dtype }, ranks), (engine) =>
      answers(engine, base, 0),
    );
    const drafted = await within(await load(base, headDir, { dtype }, ranks, method), (engine) =>
      answers(engine, base, drafts),
    );
    expect(drafted).toEqual(plain);
  });

  test('is accepted at every position, and takes fewer steps', async () => {
    const accepted = [0, 0, 0];
    let steps = 0;
    await within(await load(base, headDir, {}, 1, method), async (engine) => {
      for (const { prompt } of readGolden(base).greedy) {
        const held: [number, number[]][] = [];
        const [answer] = await run(engine, [job(0, prompt, { count: 24 })], drafts, (generated, ids) =>
          held.push([generated, ids]),
        );
        steps += 1 + held.length;
        for (const [generated, ids] of held) {
          const wrong = ids.findIndex((id, k) => id !== answer!.tokens[generated + k]);
          for (let k = 0; k < (wrong === -1 ? ids.length : wrong); k++) accepted[k]!++;
        }
      }
    });
    const perStep = (24 * runs.length) / steps;
    process.stdout.write(
      `${name}: accepted ${accepted.join(', ')} in ${String(steps)} steps, ${perStep.toFixed(2)} tokens each\n`,
    );
    expect(right.every((count) => count > 0)).toBe(true);
    expect(accepted.every((count) => count > 0)).toBe(true);
    expect(perStep).toBeGreaterThan(1.3);
  });

  test.each([
    [1, 'bfloat16', 'auto'],
    [2, 'float32', 'fp8'],
  ] as const)('is planned to the byte on %i ranks in %s, KV %s', async (tensor, dtype, kvCacheDtype) => {
    const sizes = { blockSize: 16, maxNumSeqs: 3, maxModelLen: 64, maxNumBatchedTokens: 112 };
    const speculative = { method, tokens: drafts } as const;
    const { shape, tensors } = await openCheckpoint(modelsDir + base);
    const head = await (method === 'eagle3' ? openEagle3 : openDraftModel)(headDir, shape);
    const way = { accelerator: 'cpu', dtype, quantization: 'none', speculative } as const;
    const { numBlocks, weightBytes, kvBytesPerBlock, workspaceBytes } = planMemory({
      ...{ ...sizes, ...way, kvCacheDtype, tensor, shape, prefixCaching: true },
      weights: weighCheckpoint({ shape, tensors }, head, way),
      memoryBytes: 2 ** 33,
      memoryUtilizationPercent: 90,
    });
    const { info } = await within(
      await load(base, headDir, { ...sizes, dtype, kvCacheDtype, numBlocks }, tensor, method),
      (engine) => Promise.resolve(engine),
    );
    expect(info).toMatchObject({ weightBytes, kvBytesPerBlock, workspaceBytes });
  });
});

describe('an EAGLE-3 draft model', () => {
  /** A copy of `llama-eagle3` with another config.json. */
  const changed = (name: string, config: object): string => {
    const dir = join(folder, name);
    cpSync(`${draftersDir}llama-eagle3`, dir, { recursive: true });
    const old = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) as object;
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...old, ...config }));
    return dir;
  };

  test.each([
    [
      'of another width',
      'qwen3-fp8',
      () => `${draftersDir}llama-eagle3`,
      'hidden_size 96 where the model has 320',
    ],
    [
      'whose vocabulary differs',
      'llama-bf16',
      () => changed('other-vocabulary', { vocab_size: 512 }),
      'vocab_size 512 where the model has 320',
    ],
    [
      'that reads layers the model lacks',
      'llama-bf16',
      () => changed('other-layers', { eagle_aux_hidden_state_layer_ids: [1, 2, 9] }),
      'reads layers 1, 2, 9',
    ],
    ['that is a model', 'llama-bf16', () => `${modelsDir}llama-bf16`, 'of no EAGLE-3 draft model'],
  ])('%s is refused before weights are read', async (_, base, dir, message) => {
    await expect(load(base, dir(), {})).rejects.toMatchObject({
      failure: { reason: 'InvalidEngineConfig', message: expect.stringContaining(message) as unknown },
    });
  });

  test.each([
    ['leads out of the vocabulary', 400n, 'maps draft token 5 to token 405; the model'],
    ['names a token twice', -1n, 'maps draft token 5 to token 4, as it does another'],
  ])('whose d2t %s is refused', async (_, offset, message) => {
    const dir = changed(`d2t${String(offset)}`, {});
    const tensors = readStoredTensors(dir);
    const { data } = tensors.get('d2t')!;
    // Tokens below are mapped to themselves.
    for (let i = 0; i <= 5; i++) data.writeBigInt64LE(i === 5 ? offset : 0n, 8 * i);
    writeFileSync(join(dir, 'model.safetensors'), storedFile(tensors));
    await expect(load('llama-bf16', dir, {})).rejects.toMatchObject({
      reason: 'CheckpointCorrupt',
      message: expect.stringContaining(message) as unknown,
    });
  });
});
