// Golden models on a device, against transformers with activations rounded as GPUs round them (on-gpu.json). Reports of each
// how far it is off and where, whether or not that is within the bar. Exit status 1 where one is beyond it.
// usage: goldens.ts MODELS cuda|hip|emulator RECORD [MODEL...]; MODELS: the folder test/golden/models/, beside which drafters/ has
// the draft models; MODEL: also adapters/NAME, an adapter beside its base, and encoders/NAME; RECORD: the file for a line of JSON for each model, with all
// logprobs. The addon is the one that LLMSERVICE_NATIVE_ADDON names.

import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { argv, env } from 'node:process';
import { maxAdapterRank } from '@llmservice/checkpoint';
import { openAdapter, openCheckpoint } from '@llmservice/checkpoint/local';
import {
  adapterParts,
  type Engine,
  type EngineOptions,
  gpuDevices,
  type GpuVendor,
} from '@llmservice/native';

import { loadGolden, score } from '../golden/engine-driver.js';
import { type Bar, type Golden, readGolden } from '../golden/golden-values.js';
import { continuations, expectGreedy, expectScores, expectTogetherAsAlone } from '../golden/reference-bar.js';
import { holdDrafter } from './golden-drafters.js';
import { holdEncoder } from './golden-encoders.js';
import { describeGreedy, describeScores, greedyDifferences, scoreDifferences } from './golden-differences.js';

const [models, device, record, ...named] = argv.slice(2);
if (models === undefined || device === undefined || record === undefined)
  throw new Error('usage: goldens.ts MODELS cuda|hip|emulator RECORD [MODEL...]');

// About twice what the emulator is off. Where a code of FP8 is chosen otherwise, all that follows is: such bits differ between
// any two orders of a sum, and AMD's codes have another scale.
const halves: Bar = { allowed: 0.2, allowedMean: 0.03, close: 0.2, clearSteps: 3 };
const eights: Bar = { allowed: 1.5, allowedMean: 0.25, close: 0.8, clearSteps: 0 };
// Scales of 2 and of 6 magnify what rounding moves.
const adapted: Bar = { ...halves, clearSteps: 0 };
const oddHeads = /no GPU kernels for heads that are no multiple of 16 features/;
/** Models that GPUs do not take, and what must be said of them. */
const refused = new Map([
  ['llama-bf16-ranks', oddHeads],
  ['gemma4-bf16', oddHeads],
  ['encoders/eurobert-biases', oddHeads],
  ['encoders/modernbert-bare', oddHeads],
]);

/** What was found of one model: nothing at fault is as it must be. */
interface Finding {
  readonly faults: readonly string[];
  readonly summary: string;
}

/** on-gpu.json: what differs from golden.json, and what else of that on Hopper, whose sums of FP8 are cut. */
type Rounded = Partial<Golden> & { readonly hopper?: Partial<Golden> };

const isHopper =
  device === 'emulator'
    ? env['EMULATED_MAJOR'] === '9'
    : gpuDevices(device as GpuVendor).devices[0]?.architecture === 'sm_90';

/** Of an encoder. Ranks are threads of this process, which vendors do not let share memory among themselves. */
const ranks = device === 'emulator' && gpuDevices(device).devices.length > 1 ? [1, 2] : [1];

function onGpu(folder: string, model: string): Golden {
  const { hopper, ...rounded } = JSON.parse(readFileSync(`${folder}${model}/on-gpu.json`, 'utf8')) as Rounded;
  return { ...readGolden(model, folder), ...rounded, ...(isHopper ? hopper : {}) };
}

async function hold(folder: string, model: string): Promise<Finding> {
  const options = { dtype: 'bfloat16', device: device as EngineOptions['device'] } as const;
  if (drafters.includes(model)) {
    return {
      faults: [],
      summary: await holdDrafter(folder, model, options.device, (base) => onGpu(folder, base)),
    };
  }
  const encoder = model.startsWith('encoders/');
  const place = encoder ? `${folder}../${model}` : folder + model;
  const refusal = refused.get(model);
  if (refusal !== undefined) {
    await assert.rejects(loadGolden(place, options), refusal);
    return { faults: [], summary: 'refused, as it must be' };
  }
  if (encoder) return { faults: [], summary: await holdEncoder(place, options.device, ranks) };
  const engine = await loadGolden(folder + model, options);
  try {
    return await compare(engine, model, onGpu(folder, model));
  } finally {
    await engine.dispose();
  }
}

async function holdAdapter(folder: string, name: string): Promise<Finding> {
  const { base } = JSON.parse(readFileSync(`${folder}../${name}/golden.json`, 'utf8')) as { base: string };
  const golden = onGpu(`${folder}../`, name);
  const { shape } = await openCheckpoint(folder + base);
  const adapter = await openAdapter(`${folder}../${name}`, shape, maxAdapterRank);
  const options = { dtype: 'bfloat16', device: device as EngineOptions['device'] } as const;
  const engine = await loadGolden(folder + base, options);
  try {
    for (const part of adapterParts(1, adapter)) await engine.loadAdapter(part);
    return await compare(engine, name, golden, 1);
  } finally {
    await engine.dispose();
  }
}

async function compare(engine: Engine, model: string, golden: Golden, adapter = 0): Promise<Finding> {
  const bar = /fp8|mixed/.test(model) ? eights : adapter === 0 ? halves : adapted;
  const generated = await continuations(engine, golden, adapter);
  const scores = await score(engine, golden.teacherForced.ids, 512, adapter);
  const greedyOff = greedyDifferences(generated, golden, bar);
  const scoresOff = scoreDifferences(scores, golden, bar);
  const faults = [
    await faultOf('greedy', () => expectGreedy(generated, golden, bar)),
    await faultOf('scores', () => expectScores(scores, golden, bar)),
    await faultOf('together', () => expectTogetherAsAlone(engine, golden, adapter)),
  ].flat();
  appendFileSync(record!, `${JSON.stringify({ model, faults, greedyOff, scoresOff, scores, generated })}\n`);
  return { faults, summary: `${describeScores(scoresOff)}; ${describeGreedy(greedyOff)}` };
}

/** The check's name and the first line of what it says, or nothing. */
async function faultOf(name: string, check: () => unknown): Promise<string[]> {
  try {
    await check();
    return [];
  } catch (cause) {
    return [`${name}: ${(cause as Error).message.split('\n', 1)[0]}`];
  }
}

writeFileSync(record, '');
const drafters = readdirSync(`${models}../drafters`);
const adapters = readdirSync(`${models}../adapters`).map((name) => `adapters/${name}`);
const encoders = readdirSync(`${models}../encoders`).map((name) => `encoders/${name}`);
const all = named.length > 0 ? named : [...readdirSync(models), ...drafters, ...adapters, ...encoders];
let failed = 0;
for (const model of all) {
  const startedAt = performance.now();
  const held = model.startsWith('adapters/') ? holdAdapter : hold;
  const { faults, summary } = await held(models, model).catch((cause: unknown) => ({
    faults: [(cause as Error).message],
    summary: 'not compared',
  }));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${model}: ${faults.length === 0 ? 'good' : `FAULT ${faults.join('; ')}`} (${seconds} s): ${summary}`,
  );
  if (faults.length > 0) failed += 1;
}
console.log(`${all.length - failed} of ${all.length} golden models are as they must be on ${device}`);
process.exitCode = failed === 0 ? 0 : 1;
