// Golden models on a device, against transformers with activations rounded as GPUs round them (on-gpu.json). Exit status 1
// where one differs.
// usage: goldens.ts MODELS cuda|hip|emulator [MODEL...]; MODELS: the folder test/golden/models/. The addon is the one that
// LLMSERVICE_NATIVE_ADDON names.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { argv } from 'node:process';
import type { EngineOptions } from '@llmservice/native';

import { loadGolden } from '../golden/engine-driver.js';
import { type Bar, type Golden, readGolden } from '../golden/golden-values.js';
import {
  expectGreedyOfReference,
  expectScoresOfReference,
  expectTogetherAsAlone,
} from '../golden/reference-bar.js';

const [models, device, ...named] = argv.slice(2);
if (models === undefined || device === undefined)
  throw new Error('usage: goldens.ts MODELS cuda|hip|emulator [MODEL...]');

// About twice what the emulator is off. Where a code of FP8 is chosen otherwise, all that follows is: such bits differ
// between any two orders of a sum, and AMD's codes have another scale.
const halves: Bar = { allowed: 0.2, allowedMean: 0.03, close: 0.2, clearSteps: 3 };
const eights: Bar = { allowed: 1.5, allowedMean: 0.25, close: 0.8, clearSteps: 0 };
/** Models that GPUs do not take, and what must be said of them. */
const refused = new Map([['llama-bf16-ranks', /heads of 12 features/]]);

function onGpu(folder: string, model: string): Golden {
  const rounded = JSON.parse(readFileSync(`${folder}${model}/on-gpu.json`, 'utf8')) as Partial<Golden>;
  return { ...readGolden(model, folder), ...rounded };
}

async function hold(folder: string, model: string): Promise<void> {
  const golden = onGpu(folder, model);
  const options = { dtype: 'bfloat16', device: device as EngineOptions['device'] } as const;
  const refusal = refused.get(model);
  if (refusal !== undefined) return assert.rejects(loadGolden(folder + model, options), refusal);
  const engine = await loadGolden(folder + model, options);
  const bar = /fp8|mixed/.test(model) ? eights : halves;
  try {
    await expectGreedyOfReference(engine, golden, bar);
    await expectScoresOfReference(engine, golden, bar);
    await expectTogetherAsAlone(engine, golden);
  } finally {
    await engine.dispose();
  }
}

const all = named.length > 0 ? named : readdirSync(models);
let failed = 0;
for (const model of all) {
  const startedAt = performance.now();
  const error = await hold(models, model).then(
    () => null,
    (cause: unknown) => cause as Error,
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const good = refused.has(model) ? 'refused, as it must be' : 'as the reference';
  console.log(`${model}: ${error === null ? good : error.message} (${seconds} s)`);
  if (error !== null) failed += 1;
}
console.log(`${all.length - failed} of ${all.length} golden models are as they must be on ${device}`);
process.exitCode = failed === 0 ? 0 : 1;
