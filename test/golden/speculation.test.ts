// Speculation on the golden models: without drafts, with n-gram drafts and with those of the model's own layer every token
// and logprob is the same; and the layer's drafts are those of an independent implementation.

import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, jest, test } from '@jest/globals';
import type { Engine, EngineOptions } from '@llmservice/native';
import { cpuIsas } from '@llmservice/native';

import type { Generated } from './engine-driver.js';
import { greedy, loadGolden, run } from './engine-driver.js';
import { hasMtp, job, modelsDir, readGolden, tolerance } from './reference-bar.js';

jest.setTimeout(120_000);

const isa = cpuIsas().at(-1) as EngineOptions['isa'];
const models = readdirSync(modelsDir);
const drawn = {
  ...greedy,
  temperature: 0.9,
  topP: 0.95,
  seed: 3n,
  repetitionPenalty: 1.1,
  frequencyPenalty: 0.2,
};
const methods = [
  { method: 'ngram', tokens: 4 },
  { method: 'mtp', tokens: 3 },
] as const;

/** drafts.json of a model, as generate/drafts.py writes it: for each greedy run, what is drafted after each token. */
interface GoldenDrafts {
  readonly runs: readonly { readonly tokens: number[][]; readonly margins: number[][] }[];
}

async function generate(engine: Engine, model: string, drafts: number): Promise<Generated[]> {
  const jobs = readGolden(model).greedy.flatMap(({ prompt }, i) => [
    job(2 * i, prompt, { count: 24, chunk: 64, joinsAt: i }),
    job(2 * i + 1, prompt, { count: 24, chunk: 64, joinsAt: i, sampling: drawn }),
  ]);
  return run(engine, jobs, drafts);
}

describe.each(models)('%s', (model) => {
  const possible = methods.filter(({ method }) => method !== 'mtp' || hasMtp(model));
  test.each(possible)('with $method drafts says what it says without, to the bit', async (speculative) => {
    const how = { isa, dtype: 'bfloat16', threads: 1 } as const;
    const plain = await loadGolden(modelsDir + model, how);
    const drafting = await loadGolden(modelsDir + model, { ...how, speculative });
    try {
      expect(await generate(drafting, model, speculative.tokens)).toEqual(await generate(plain, model, 0));
    } finally {
      await Promise.all([plain.dispose(), drafting.dispose()]);
    }
  });
});

test.each(methods)('with $method drafts two ranks say what they say without', async (speculative) => {
  const model = 'qwen3_5-bf16';
  const how = { isa, dtype: 'float32', threads: 1 } as const;
  const plain = await loadGolden(modelsDir + model, how, 2);
  const wanted = await generate(plain, model, 0).finally(() => plain.dispose());
  const drafting = await loadGolden(modelsDir + model, { ...how, speculative }, 2);
  const got = await generate(drafting, model, speculative.tokens).finally(() => drafting.dispose());
  expect(got).toEqual(wanted);
});

test.each([
  ['qwen3_5-bf16', 1],
  ['qwen3_5-bf16', 2],
  ['qwen3_5-fp8', 1],
  ['qwen3_5-nvfp4-fp8-mtp', 1],
  ['qwen3_5_moe-bf16-ranks', 1],
  ['qwen3_5_moe-bf16-ranks', 2],
  ['qwen3_5_moe-bf16-ranks', 4],
  ['qwen3_5_moe_text-fp8', 1],
])(
  'the layer of %s on %i ranks drafts what the reference drafts, up to the first close call',
  async (model, ranks) => {
    const { runs } = JSON.parse(readFileSync(`${modelsDir}${model}/drafts.json`, 'utf8')) as GoldenDrafts;
    const how = { isa, dtype: 'float32', threads: 1, speculative: { method: 'mtp', tokens: 3 } } as const;
    const engine = await loadGolden(modelsDir + model, how, ranks);
    let compared = 0;
    try {
      for (const [i, { prompt, margins }] of readGolden(model).greedy.entries()) {
        // Beyond a close call of the trunk the sequence may be another one.
        const close = margins.findIndex((margin) => margin < tolerance.float32);
        const last = Math.min(12, close === -1 ? Infinity : close);
        await run(engine, [job(0, prompt, { count: 13, chunk: 64 })], 3, (generated, drafts) => {
          // A prompt of which one token is left drafts too; that, the file does not have.
          if (generated === 0 || generated > last) return;
          const tokens = runs[i]!.tokens[generated - 1]!;
          const unclear = runs[i]!.margins[generated - 1]!.findIndex((margin) => margin < tolerance.float32);
          const count = Math.min(drafts.length, unclear === -1 ? 3 : unclear);
          expect(drafts.slice(0, count)).toEqual(tokens.slice(0, count));
          compared += count;
        });
      }
    } finally {
      await engine.dispose();
    }
    expect(compared).toBeGreaterThan(120);
  },
);
