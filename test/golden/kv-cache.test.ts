// The KV cache in fp8: the values that the reference gets when it rounds keys and values by the same rule, what that
// costs against the reference as it is, and the same bits on every instruction family.

import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import type { EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import { loadGolden, score } from './engine-driver.js';
import { furthest, modelsDir, readGolden, tolerance } from './reference-bar.js';

type Isa = EngineOptions['isa'];

const isas = cpuIsas() as Isa[];
/** Bounds of the mean difference of a logprob from the reference's own over 256 positions, in nats. Hybrids keep KV
 *  in one layer of three. */
const costs = [
  { model: 'llama-bf16', cost: 0.17 },
  { model: 'qwen3-bf16', cost: 0.16 },
  { model: 'qwen3-window-bf16', cost: 0.17 },
  { model: 'qwen3_5-bf16', cost: 0.014 },
  { model: 'qwen3_5_moe-bf16', cost: 0.012 },
  { model: 'qwen3_5_text-fp8-ranks', cost: 0.014 },
  { model: 'qwen3_moe-bf16', cost: 0.15 },
  { model: 'qwen3_next-bf16', cost: 0.013 },
  { model: 'gemma3_text-bf16', cost: 0.14 },
  { model: 'gemma4-bf16', cost: 0.2 },
  { model: 'gemma4_text-bf16', cost: 0.14 },
] as const;

/** One KV head of theirs is on both ranks, of all layers or of those without a window. */
const onBothRanks: readonly string[] = ['gemma4-bf16', 'gemma4_text-bf16'];

const how = { dtype: 'float32', threads: 2, kvCacheDtype: 'fp8' } as const;

async function scored(model: string, isa: Isa, ranks = 1): Promise<{ logprobs: number[]; kvBytes: number }> {
  const engine = await loadGolden(modelsDir + model, { ...how, isa }, ranks);
  try {
    const { logprobs } = await score(engine, readGolden(model).teacherForced.ids, 128);
    return { logprobs, kvBytes: engine.info.kvBytesPerBlock };
  } finally {
    await engine.dispose();
  }
}

describe.each(costs)('$model', ({ model, cost }) => {
  test('has the logprobs of a reference that rounds as it does', async () => {
    const file = readFileSync(`${modelsDir}${model}/kv-fp8.json`, 'utf8');
    const rounded = (JSON.parse(file) as { logprobs: number[] }).logprobs;
    const { logprobs } = await scored(model, isas.at(-1)!);
    expect(rounded).toHaveLength(256);
    expect(furthest(logprobs, rounded)).toBeLessThan(tolerance.float32);

    const whole = readGolden(model).teacherForced.logprobs;
    const differences = whole.map((each, i) => Math.abs(each - logprobs[i]!));
    expect(differences.reduce((sum, each) => sum + each, 0) / differences.length).toBeLessThan(cost);
    expect(Math.max(...differences)).toBeGreaterThan(tolerance.float32);
  });

  test('has the same bits on every instruction family, and those of the reference on two ranks', async () => {
    const [first, ...others] = await Promise.all(isas.map((isa) => scored(model, isa)));
    for (const other of others) expect(other).toEqual(first);
    const split = await scored(model, isas.at(-1)!, 2);
    if (onBothRanks.includes(model)) expect(split.kvBytes).toBeGreaterThan(first!.kvBytes / 2);
    else expect(split.kvBytes).toBe(first!.kvBytes / 2);
    expect(furthest(split.logprobs, first!.logprobs)).toBeLessThan(tolerance.bfloat16);
  });
});
