// Part of `make golden`: trained models in each form and on several ranks beside transformers, a line for each measurement, and
// at the end how many failed or were skipped because a package could not be fetched.
// usage: tsx test/golden/real/run.ts [NAME...]   (all, where none is named)

import { provide, readTrainedGolden } from './trained-model.js';
import { measurementsOf, type TrainedModel } from './measurements.js';

const models: readonly TrainedModel[] = [
  {
    name: 'smollm2',
    stored: 'Q4_1',
    forms: ['bf16', 'fp8', 'int8', 'q8_0', 'q4_k'],
    ranks: 3,
    cut: 'fp8',
    kvFp8: 0.002,
  },
  { name: 'gemma3', stored: 'Q4_K_M', forms: [], ranks: 2, kvFp8: 0.006 },
];
const named = process.argv.slice(2);

const counts = { measured: 0, failed: 0, skipped: 0 };
for (const model of models.filter(({ name }) => named.length === 0 || named.includes(name))) {
  const golden = readTrainedGolden(model.name);
  for (const { form, what, measure } of measurementsOf(model, golden)) {
    const title = `${model.name} ${form ?? model.stored}, ${what}`;
    const folder = provide(model.name, form);
    if (folder === null) {
      counts.skipped++;
      console.log(`${title}: skipped: not fetched before, and cannot be fetched now`);
      continue;
    }
    counts.measured++;
    try {
      const { found, wrong } = await measure(folder);
      if (wrong) counts.failed++;
      console.log(`${title}: ${found}${wrong ? ': FAILED' : ''}`);
    } catch (error) {
      counts.failed++;
      console.log(`${title}: FAILED: ${(error as Error).message}`);
    }
  }
}
console.log(`${counts.measured} measurements, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
