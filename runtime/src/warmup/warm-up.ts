// Runs the shapes of a warm-up on an engine that serves nobody yet, within a time limit.

import { FailureError } from '@llmservice/crds';
import type { Engine } from '@llmservice/native';
import { failureOf } from '../engine/failure-of.js';
import { warmupPlans } from './warmup-plans.js';
import { describeShape, type WarmupLimits, type WarmupShape } from './warmup-shapes.js';

export interface WarmupReport {
  readonly ran: number;
  /** Shapes that the time limit left out, in words. */
  readonly leftOut: readonly string[];
  readonly seconds: number;
}

export interface WarmupRun {
  readonly timeLimitSeconds: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Before each shape, and once all have run. */
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * The first shape always runs; what the limit leaves out is captured when it comes, which is no error.
 * @throws FailureError ModelTooLarge where a shape finds no memory
 */
export async function warmUp(
  engine: Pick<Engine, 'step'>,
  shapes: readonly WarmupShape[],
  limits: WarmupLimits,
  { timeLimitSeconds, now, onProgress }: WarmupRun,
): Promise<WarmupReport> {
  const began = now();
  let ran = 0;
  for (const shape of shapes) {
    if (ran > 0 && now() - began >= timeLimitSeconds * 1000) break;
    onProgress(ran, shapes.length);
    await runShape(engine, shape, limits);
    ran++;
  }
  onProgress(ran, shapes.length);
  return { ran, leftOut: shapes.slice(ran).map(describeShape), seconds: (now() - began) / 1000 };
}

async function runShape(
  engine: Pick<Engine, 'step'>,
  shape: WarmupShape,
  limits: WarmupLimits,
): Promise<void> {
  try {
    for (const plan of warmupPlans(shape, limits)) await engine.step(plan);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.reason !== 'DeviceOutOfMemory' && failure.reason !== 'OutOfMemory') throw error;
    throw new FailureError(
      'ModelTooLarge',
      `the engine is loaded, but a step that it must be able to run (${describeShape(shape)}) finds no memory: ` +
        `${failure.message} Any of these would do: a lower engine.maxNumBatchedTokens ` +
        `(${String(limits.maxNumBatchedTokens)}), engine.maxModelLen (${String(limits.maxModelLen)}) or ` +
        'engine.memoryUtilizationPercent',
      { shape: describeShape(shape) },
      { cause: error },
    );
  }
}
