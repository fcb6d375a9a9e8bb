// Golden models on a device, against transformers as the CPU's engine is (test/golden/reference-bar.ts). Exit status 1 where
// one differs.
// usage: goldens.ts MODELS cuda|hip|emulator [MODEL...]; MODELS: the folder test/golden/models/. The addon is the one that
// LLMSERVICE_NATIVE_ADDON names.

import { readdirSync } from 'node:fs';
import { argv } from 'node:process';
import type { EngineOptions } from '@llmservice/native';

import { loadGolden } from '../golden/engine-driver.js';
import { readGolden, tolerance } from '../golden/golden-values.js';
import {
  expectGreedyOfReference,
  expectScoresOfReference,
  expectTogetherAsAlone,
} from '../golden/reference-bar.js';

const [models, device, ...named] = argv.slice(2);
if (models === undefined || device === undefined)
  throw new Error('usage: goldens.ts MODELS cuda|hip|emulator [MODEL...]');
const dtype = 'bfloat16';

async function hold(folder: string, model: string): Promise<void> {
  const golden = readGolden(model, folder);
  const engine = await loadGolden(folder + model, { dtype, device: device as EngineOptions['device'] });
  try {
    await expectGreedyOfReference(engine, golden, dtype);
    await expectScoresOfReference(engine, golden, tolerance[dtype]);
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
  console.log(`${model}: ${error === null ? 'as the reference' : error.message} (${seconds} s)`);
  if (error !== null) failed += 1;
}
console.log(`${all.length - failed} of ${all.length} golden models are as the reference on ${device}`);
process.exitCode = failed === 0 ? 0 : 1;
