// Requests and a loop to run them, for tests of the scheduler.

import { generateRequest } from './generate-request.fixture.js';
import type { GenerateRequest, Sampled } from './generation.js';
import type { Scheduler, SchedulerLimits } from './scheduler.js';
import type { StepModel } from './step-model.fixture.js';

// Jest's sandbox makes every look-up of a global slow.
const { imul } = Math;

/** A small attention-only model. */
export const limits: SchedulerLimits = {
  prefixCaching: true,
  hybrid: false,
  numStateSnapshots: 0,
  speculative: { method: 'none', tokens: 0 },
  blockSize: 16,
  numBlocks: 64,
  maxNumSeqs: 4,
  maxNumBatchedTokens: 128,
  maxModelLen: 512,
};

/** A request with a prompt that only its id and length decide. */
export function request(
  id: string,
  promptLength: number,
  maxTokens: number,
  stopTokens: number[] = [],
): GenerateRequest {
  const salt = Array.from(id, (character) => character.charCodeAt(0)).reduce(
    (sum, code) => sum * 7 + code,
    1,
  );
  const prompt = Int32Array.from({ length: promptLength }, (_, i) => (salt + i * i) % 1000);
  return generateRequest(id, prompt, { maxTokens, stopTokens: Int32Array.from(stopTokens) });
}

/** Runs until nothing is left to compute and `arrive` says that no more comes; tokens by request. */
export function drain(scheduler: Scheduler, model: StepModel, arrive: () => boolean = () => false) {
  const tokens = new Map<string, number[]>();
  const finished = new Map<string, Sampled['finish']>();
  for (let step = 0; step < 100_000; step++) {
    const more = arrive();
    const planned = scheduler.plan();
    if (planned === null && more) continue;
    if (planned === null) return { tokens, finished };
    for (const entry of scheduler.postprocess(model.step(planned.plan)).sampled) {
      tokens.set(entry.id, [...(tokens.get(entry.id) ?? []), entry.token]);
      if (entry.finish !== null) finished.set(entry.id, entry.finish);
    }
  }
  throw new Error('the workload does not end');
}

/** A small deterministic generator (mulberry32), so that a failing workload can be run again. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = imul(state ^ (state >>> 15), 1 | state);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}
