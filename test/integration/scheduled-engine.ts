// The scheduler over a real engine, without processes between them: workloads in, every token and logprob out.

import { expect } from '@jest/globals';
import { loadEngine, type StepResult } from '@llmservice/native';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import {
  Scheduler,
  type PlannedStep,
  type SchedulerLimits,
  type SchedulerStats,
} from '../../runtime/src/schedule/scheduler.js';
import { modelsDir } from '../golden/golden-values.js';
import { demoCheckpoint } from './replica-process.js';

export const models = [
  { name: 'llama', modelDir: `${modelsDir}llama-bf16`, hybrid: false, vocab: 320, drafts: 'ngram' },
  { name: 'hybrid', modelDir: `${modelsDir}qwen3_5-bf16`, hybrid: true, vocab: 320, drafts: 'mtp' },
  { name: 'demo', modelDir: demoCheckpoint, hybrid: true, vocab: 2000, drafts: 'mtp' },
] as const;
export type Model = (typeof models)[number];

type Limits = Omit<SchedulerLimits, 'hybrid'>;

const limits = {
  blockSize: 16,
  numBlocks: 256,
  maxNumSeqs: 6,
  numStateSnapshots: 0,
  maxNumBatchedTokens: 192,
  maxModelLen: 512,
  speculative: { method: 'none', tokens: 0 },
} as const;

/** `length` tokens that only the name decides. */
export function text(name: string, length: number, vocab: number): number[] {
  let state = Array.from(name).reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) >>> 0, 7);
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % vocab;
  });
}

export function request(
  id: string,
  prompt: readonly number[],
  changes: Partial<GenerateRequest> = {},
): GenerateRequest {
  const sampling = {
    ...greedy,
    temperature: 0.8,
    topP: 0.95,
    seed: BigInt(prompt.length),
    repetitionPenalty: 1.1,
    topLogprobs: 2,
  };
  return generateRequest(id, prompt, { maxTokens: 12, sampling, ...changes });
}

export interface Arrival {
  readonly step: number;
  readonly request: GenerateRequest;
  /** Step at which it is cancelled. */
  readonly cancelAt?: number;
}

/** Prompts that begin alike in many ways, arriving while others run; some twice, some cancelled, two of them endless. */
export function workload(vocab: number): Arrival[] {
  const system = text('system', 130, vocab);
  const arrivals: Arrival[] = [];
  for (let i = 0; i < 24; i++) {
    const branch = text(`branch ${i % 5}`, 20 + 23 * (i % 5), vocab);
    const prompt = [...(i % 4 === 3 ? [] : system), ...branch, ...text(`end ${i % 7}`, (i * 11) % 70, vocab)];
    const changes = { maxTokens: i % 6 === 0 ? 60 : 9, boundaries: i % 2 === 0 ? [130] : [] };
    const arrival = { step: 2 * i, request: request(`request ${i}`, prompt, changes) };
    arrivals.push(i % 9 === 4 ? { ...arrival, cancelAt: 2 * i + 3 } : arrival);
  }
  return arrivals;
}

export interface Outcome {
  /** By request: tokens and logprobs, in full precision. */
  readonly outputs: Map<string, string[]>;
  readonly stats: SchedulerStats;
  readonly cachedTokens: Map<string, number>;
  readonly steps: number;
  readonly stepsAhead: number;
}

/** A step that the engine has been asked for. */
interface Begun {
  readonly started: PlannedStep['started'];
  readonly result: Promise<StepResult>;
}

/**
 * Runs a workload on an engine of its own.
 * @param plansAhead whether steps wait in the engine behind those that run, where nobody waits for them
 */
export async function run(
  model: Model,
  changes: Partial<Limits>,
  arrivals: readonly Arrival[],
  plansAhead = false,
): Promise<Outcome> {
  const { prefixCaching, ...room }: Limits = { prefixCaching: false, ...limits, ...changes };
  const engine = await loadEngine({ ...plainOptions, modelDir: model.modelDir, ...room }, () => undefined);
  expect(engine.info.hybrid).toBe(model.hybrid);
  const scheduler = new Scheduler({ ...room, prefixCaching, hybrid: model.hybrid });
  const outputs = new Map<string, string[]>();
  const cachedTokens = new Map<string, number>();
  let steps = 0;
  let stepsAhead = 0;
  let next: Begun | null = null;
  const begin = (planned: PlannedStep | null): Begun | null =>
    planned && { started: planned.started, result: engine.step(planned.plan) };
  try {
    for (let step = 0; ; step++) {
      for (const { request: asked } of arrivals.filter((each) => each.step === step)) scheduler.add(asked);
      for (const { request: asked } of arrivals.filter((each) => each.cancelAt === step))
        scheduler.cancel(asked.id);
      const begun: Begun | null = next ?? begin(scheduler.plan());
      if (begun === null && arrivals.every((each) => each.step <= step)) break;
      if (begun === null) continue;
      steps++;
      next = plansAhead ? begin(scheduler.planAhead()) : null;
      if (next !== null) stepsAhead++;
      for (const { id, cachedTokens: cached } of begun.started) cachedTokens.set(id, cached);
      for (const { id, token, logprobs } of scheduler.postprocess(await begun.result).sampled) {
        outputs.set(id, [
          ...(outputs.get(id) ?? []),
          `${token} ${logprobs?.logprob} ${logprobs?.top[1]?.logprob}`,
        ]);
      }
    }
  } finally {
    await engine.dispose();
  }
  expect(scheduler.stats).toMatchObject({ running: 0, waiting: 0, blocksUsed: 0 });
  return { outputs, stats: scheduler.stats, cachedTokens, steps, stepsAhead };
}
