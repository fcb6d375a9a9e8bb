// Quantization at load: the values that the reference gets from the same rule, and what the rule costs against the
// checkpoint as it is stored. Random weights whose logits have a standard deviation of 3 are a hard case.

import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import type { EngineOptions } from '@llmservice/native';

import { loadGolden, score } from './engine-driver.js';
import { modelsDir, readGolden, tolerance } from './reference-bar.js';

type Quantization = EngineOptions['quantization'];

const allowed = tolerance.float32;
/** Bounds of the mean difference of a logprob from the unquantized model's over 256 positions, in nats. */
const costs = [
  { model: 'llama-f16', fp8: 0.26, int8: 0.07 },
  { model: 'qwen3-bf16', fp8: 0.32, int8: 0.08 },
  { model: 'qwen3_5-bf16', fp8: 0.65, int8: 0.17 }, // the gated norm of its recurrent layers magnifies rounding
] as const;

/** The same, from the reference whose activations are FP8 by the scales in the file. */
const fp8Inputs = 0.27;

async function scored(
  model: string,
  quantization: Quantization,
): Promise<{ logprobs: number[]; bytes: number }> {
  const { teacherForced } = readGolden(model);
  const engine = await loadGolden(modelsDir + model, {
    dtype: 'float32',
    isa: 'auto',
    threads: 1,
    quantization,
  });
  try {
    const { logprobs } = await score(engine, teacherForced.ids, 512);
    return { logprobs, bytes: engine.info.weightBytes };
  } finally {
    await engine.dispose();
  }
}

function differences(a: readonly number[], b: readonly number[]): number[] {
  expect(a).toHaveLength(b.length);
  return a.map((value, i) => Math.abs(value - b[i]!));
}

test('activations that a publisher quantizes stay as they are, which is no further from the reference than they are', async () => {
  const model = 'llama-fp8-groups';
  const { logprobs } = await scored(model, 'none');
  const file = readFileSync(`${modelsDir}${model}/fp8-inputs.json`, 'utf8');
  const cost = differences(logprobs, (JSON.parse(file) as { logprobs: number[] }).logprobs);
  expect(cost.reduce((sum, each) => sum + each, 0) / cost.length).toBeLessThan(fp8Inputs);
  expect(Math.max(...cost)).toBeGreaterThan(allowed);
});

describe.each(costs)('$model', ({ model, ...bounds }) => {
  test.each(['fp8', 'int8'] as const)('in %s', async (quantization) => {
    const stored = await scored(model, 'none');
    const quantized = await scored(model, quantization);
    const file = readFileSync(`${modelsDir}${model}/at-load.json`, 'utf8');
    const wanted = (JSON.parse(file) as Record<typeof quantization, number[]>)[quantization];
    expect(Math.max(...differences(quantized.logprobs, wanted))).toBeLessThan(allowed);
    const cost = differences(quantized.logprobs, stored.logprobs);
    expect(cost.reduce((sum, each) => sum + each, 0) / cost.length).toBeLessThan(bounds[quantization]);
    expect(Math.max(...cost)).toBeGreaterThan(allowed);
    expect(quantized.bytes).toBeLessThan(stored.bytes);
  });
});
