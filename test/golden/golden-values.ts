// golden.json of a model, as generate/ writes it, and what an engine's numbers must be near to.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Golden {
  readonly greedy: readonly GreedyGolden[];
  readonly teacherForced: {
    readonly ids: number[];
    readonly argmax: number[];
    readonly margins: number[];
    readonly logprobs: number[];
    /** Of a reference that rounds: the same where sums are made in another type, as right as the others. */
    readonly inFloat32?: number[];
  };
}

/** A prompt and its greedy continuation. */
export interface GreedyGolden {
  readonly prompt: number[];
  readonly tokens: number[];
  /** At each step, the best logit minus the second. */
  readonly margins: number[];
  readonly logprobs: number[];
}

export const modelsDir = fileURLToPath(new URL('models/', import.meta.url));

/** Allowed difference of a logprob; where the best two tokens are closer than this, the choice is free. */
export const tolerance = { bfloat16: 0.08, float32: 0.02 };

/** What an engine must match. */
export interface Bar {
  /** Of one logprob, and of the mean of 256. */
  readonly allowed: number;
  readonly allowedMean: number;
  /** Where the best two tokens are closer than this, the choice is free. */
  readonly close: number;
  /** Greedy tokens before the first close call, over all prompts, at least: fewer would say little. */
  readonly clearSteps: number;
}

const { bfloat16, float32 } = tolerance;
/** `rounded`: of a reference that rounds activations as the engine does. */
export const bars = {
  bfloat16: { allowed: bfloat16, allowedMean: bfloat16, close: bfloat16, clearSteps: 16 },
  float32: { allowed: float32, allowedMean: float32, close: float32, clearSteps: 101 },
  rounded: { allowed: bfloat16, allowedMean: 0.02, close: bfloat16, clearSteps: 16 },
} as const satisfies Record<string, Bar>;

/** @param folder of the models; ends with a slash */
export function readGolden(model: string, folder = modelsDir): Golden {
  return JSON.parse(readFileSync(`${folder}${model}/golden.json`, 'utf8')) as Golden;
}

/** Steps of a greedy run before the first close call. */
export function clearSteps({ tokens, margins }: GreedyGolden, allowed: number): number {
  const close = margins.findIndex((margin) => margin < allowed);
  return close === -1 ? tokens.length : close;
}

/** The largest difference between the first values of `got` and all of `wanted`, or the nearer of it and `other`. */
export function furthest(got: readonly number[], wanted: readonly number[], other = wanted): number {
  const differences = wanted.map((value, i) =>
    Math.min(Math.abs(value - got[i]!), Math.abs(other[i]! - got[i]!)),
  );
  return Math.max(0, ...differences);
}

/**
 * How far scores may be from the nearer of both references: another order of sums may be as far from both as these are from each
 * other.
 */
export function allowedOff({ logprobs, inFloat32 }: Golden['teacherForced'], allowed: number): number {
  return inFloat32 === undefined ? allowed : Math.max(allowed, furthest(inFloat32, logprobs));
}

/** Whether the model comes with a layer for multi-token prediction. */
export function hasMtp(model: string): boolean {
  return readdirSync(modelsDir + model)
    .filter((file) => file.endsWith('.safetensors'))
    .some((file) => readFileSync(`${modelsDir}${model}/${file}`).includes('"mtp.fc.weight"'));
}
