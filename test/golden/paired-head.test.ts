// The layer for multi-token prediction from a paired checkpoint: a trunk without it beside a folder that has it drafts,
// accepts and says to the bit what one checkpoint with both does, in whatever formats the two are.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { checkMtpHead, joinedWeights, rankWeightBytes, residentWeights } from '@llmservice/checkpoint';
import { cpuIsas, type Engine, type EngineOptions } from '@llmservice/native';

import { openCheckpoint, readLocalMtpHead } from '@llmservice/checkpoint/local';
import {
  asFloat32,
  isOfMtp,
  isOfTrunk,
  only,
  readStoredTensors,
  storedFile,
  widened,
  type StoredTensors,
} from '../builders/stored-tensors.js';
import { loadGolden, run, type Generated } from './engine-driver.js';
import { job, modelsDir, readGolden } from './reference-bar.js';

jest.setTimeout(120_000);

const drafts = 3;
const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const folder = mkdtempSync(join(tmpdir(), 'llmservice-paired-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A checkpoint of one file; returns its folder. */
function write(name: string, config: object, tensors: StoredTensors): string {
  const dir = join(folder, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
  writeFileSync(join(dir, 'model.safetensors'), storedFile(tensors));
  return dir;
}

function readConfig(model: string): Record<string, unknown> {
  return JSON.parse(readFileSync(`${modelsDir}${model}/config.json`, 'utf8')) as Record<string, unknown>;
}

function unquantized(config: object): object {
  return { ...config, quantization_config: undefined };
}

interface Pair {
  /** With the layer. */
  readonly whole: string;
  readonly trunk: string;
  readonly head: string;
}

function sameFormat(model: string): Pair {
  const config = readConfig(model);
  const tensors = readStoredTensors(modelsDir + model);
  return {
    whole: modelsDir + model,
    trunk: write(`${model}-trunk`, config, only(tensors, isOfTrunk)),
    // As it is published: with the trunk, which is not to be read.
    head: modelsDir + model,
  };
}

function mixed(model: string, wide: 'trunk' | 'head'): Pair {
  const config = readConfig(model);
  const tensors = readStoredTensors(modelsDir + model);
  const [trunk, head] = [only(tensors, isOfTrunk), only(tensors, isOfMtp)];
  const [ofTrunk, ofHead] = wide === 'trunk' ? [widened(trunk), head] : [trunk, widened(head)];
  const configOf = (part: 'trunk' | 'head'): object => (part === wide ? unquantized(config) : config);
  return {
    whole: write(`${model}-${wide}-wide`, config, new Map([...ofTrunk, ...ofHead])),
    trunk: write(`${model}-${wide}-wide-trunk`, configOf('trunk'), ofTrunk),
    head: write(`${model}-${wide}-wide-head`, configOf('head'), ofHead),
  };
}

/** Of the same numbers as the model's own. */
function inFloat32(model: string): Pair {
  const { whole, trunk } = sameFormat(model);
  const head = asFloat32(only(readStoredTensors(whole), isOfMtp));
  return { whole, trunk, head: write(`${model}-head`, readConfig(model), head) };
}

/** What is said, and every draft that was held after a step. */
async function drafted(engine: Engine, model: string): Promise<{ said: Generated[]; held: number[][] }> {
  const held: number[][] = [];
  const jobs = readGolden(model).greedy.map(({ prompt }, i) =>
    job(i, prompt, { count: 24, chunk: 64, joinsAt: i }),
  );
  const said = await run(engine, jobs, drafts, (_, ids) => held.push(ids));
  await engine.dispose();
  return { said, held };
}

// Two ranks would cut the blocks of these FP8 matrices.
describe.each([
  ['BF16 beside BF16', [1, 2], 'qwen3_5-bf16', () => sameFormat('qwen3_5-bf16')],
  ['an F32 head beside a BF16 trunk', [1, 2], 'qwen3_5-bf16', () => inFloat32('qwen3_5-bf16')],
  [
    'a head with experts, BF16 beside BF16',
    [1, 2],
    'qwen3_5_moe-bf16-ranks',
    () => sameFormat('qwen3_5_moe-bf16-ranks'),
  ],
  [
    'a BF16 head with experts beside an FP8 trunk',
    [1],
    'qwen3_5_moe_text-fp8',
    () => mixed('qwen3_5_moe_text-fp8', 'head'),
  ],
  ['FP8 beside FP8', [1], 'qwen3_5-fp8', () => sameFormat('qwen3_5-fp8')],
  ['a BF16 head beside an FP8 trunk', [1], 'qwen3_5-fp8', () => mixed('qwen3_5-fp8', 'head')],
  [
    'an FP8 head beside an NVFP4 trunk',
    [1],
    'qwen3_5-nvfp4-fp8-mtp',
    () => sameFormat('qwen3_5-nvfp4-fp8-mtp'),
  ],
  ['an FP8 head beside a BF16 trunk', [1], 'qwen3_5-fp8', () => mixed('qwen3_5-fp8', 'trunk')],
] as const)('%s', (_, rankCounts, model, build) => {
  let pair: Pair;
  beforeAll(() => {
    pair = build();
  });

  const speculative = { method: 'mtp', tokens: drafts } as const;
  const how = { isa, dtype: 'float32', threads: 1 } as const;

  test.each([...rankCounts])(
    'drafts and says what the single checkpoint does, on %i ranks',
    async (ranks) => {
      const load = (dir: string, head: object): Promise<Engine> =>
        loadGolden(dir, { ...how, speculative: { ...speculative, ...head } }, ranks);
      const wanted = await drafted(await load(pair.whole, {}), model);
      const got = await drafted(await load(pair.trunk, { headDir: pair.head }), model);
      expect(got).toEqual(wanted);
      expect(got.held.flat().length).toBeGreaterThan(60);
    },
  );

  test.each(['bfloat16', 'float32'] as const)('is counted to the byte, held in %s', async (dtype) => {
    const { shape, tensors } = await openCheckpoint(pair.trunk);
    const head = await readLocalMtpHead(pair.head);
    checkMtpHead(pair.head, head, shape);
    const held = { dtype, quantization: 'none', speculative } as const;
    const engine = await loadGolden(pair.trunk, {
      ...how,
      dtype,
      speculative: { ...speculative, headDir: pair.head },
    });
    const { weightBytes } = engine.info;
    await engine.dispose();
    const counted = joinedWeights(
      residentWeights(tensors, shape, held),
      residentWeights(head.tensors, head.shape, held),
    );
    expect(rankWeightBytes(counted, { rank: 0, size: 1, kvHeads: shape.kvHeads })).toBe(weightBytes);
  });
});

test.each([
  ['of another width', 'qwen3_5-fp8', 'hidden_size 136 where the model has 72'],
  ['that has no head', 'qwen3_5-bf16-ranks', 'hidden_size 96 where the model has 72'],
])('a paired checkpoint %s is refused before weights are read', async (_, other, message) => {
  const { trunk } = sameFormat('qwen3_5-bf16');
  const speculative = { method: 'mtp', tokens: drafts, headDir: modelsDir + other } as const;
  const loading = loadGolden(trunk, { isa, dtype: 'float32', threads: 1, speculative });
  await expect(loading).rejects.toMatchObject({
    reason: 'InvalidEngineConfig',
    message: expect.stringContaining(message) as unknown,
  });
});
