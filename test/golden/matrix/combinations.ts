// Every way of running a golden model that must give the reference's numbers: the axes, all combinations of them that
// the models allow, and a thin diagonal through them that meets each value of each axis.

import { readdirSync } from 'node:fs';

import { residentWeights, validTensorParallel } from '@llmservice/checkpoint';

import { openCheckpoint } from '@llmservice/checkpoint/local';
import { hasMtp, modelsDir } from '../golden-values.js';

export const dtypes = ['bfloat16', 'float32'] as const;
export const tensors = [1, 2, 4] as const;
export const caches = ['off', 'on'] as const;
export const speculations = ['none', 'ngram', 'mtp'] as const;
/** Most prompt rows of a step. */
export const chunks = [64, 192, 2048] as const;

/** What an engine is loaded as. */
export interface EngineChoice {
  /** Folder of the model: ARCHITECTURE-FORMAT, then what else sets it apart. */
  readonly model: string;
  readonly dtype: (typeof dtypes)[number];
  readonly tensor: (typeof tensors)[number];
  readonly speculation: (typeof speculations)[number];
}

export interface Combination extends EngineChoice {
  readonly cache: (typeof caches)[number];
  readonly chunk: (typeof chunks)[number];
}

export const models: readonly string[] = readdirSync(modelsDir);

const divisors = new Map(
  await Promise.all(models.map(async (model) => [model, await divisorsOf(model)] as const)),
);

async function divisorsOf(model: string): Promise<number[]> {
  const { shape, tensors } = await openCheckpoint(modelsDir + model);
  const speculative = { method: hasMtp(model) ? 'mtp' : 'none', tokens: 1 } as const;
  const weights = residentWeights(tensors, shape, { dtype: 'auto', quantization: 'none', speculative });
  return validTensorParallel(shape, weights);
}

export function architectureOf(model: string): string {
  return model.slice(0, model.indexOf('-'));
}

/** Ranks that can share a model: its heads and its blocks of scales must divide. */
export function tensorsOf(model: string): EngineChoice['tensor'][] {
  return tensors.filter((tensor) => divisors.get(model)!.includes(tensor));
}

/** Drafts by the layer for multi-token prediction need a checkpoint that has it. */
export function speculationsOf(model: string): EngineChoice['speculation'][] {
  return speculations.filter((each) => each !== 'mtp' || hasMtp(model));
}

export function allEngines(): EngineChoice[] {
  return models.flatMap((model) =>
    tensorsOf(model).flatMap((tensor) =>
      speculationsOf(model).flatMap((speculation) =>
        dtypes.map((dtype) => ({ model, dtype, tensor, speculation })),
      ),
    ),
  );
}

/** All that one engine can be put through. */
export function combinationsOf(engine: EngineChoice): Combination[] {
  return caches.flatMap((cache) => chunks.map((chunk) => ({ ...engine, cache, chunk })));
}

/** One combination per model; the other axes turn at different speeds, speculation among models that have the same choice. */
export function diagonal(): Combination[] {
  const withHead = models.filter(hasMtp);
  const without = models.filter((model) => !hasMtp(model));
  return models.map((model, i) => ({
    model,
    dtype: turn(dtypes, i),
    tensor: turn(tensorsOf(model), Math.floor(i / 2)),
    speculation: turn(speculationsOf(model), (hasMtp(model) ? withHead : without).indexOf(model)),
    cache: turn(caches, Math.floor(i / 3)),
    chunk: turn(chunks, i),
  }));
}

function turn<Value>(values: readonly Value[], position: number): Value {
  return values[position % values.length]!;
}
