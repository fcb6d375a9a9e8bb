// How long the scheduler takes between two steps: plan() and postprocess() for 256 sequences, the prefix cache on.
// The device waits for it, so that it must stay under 200 us. usage: tsx test/bench/plan-time.ts

import type { StepPlan, StepResult } from '@llmservice/native';
import { generateRequest } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';

const sequences = 256;
const steps = 2000;
/** Tokens of one step's prefills alongside the decodes. */
const maxNumBatchedTokens = 8192;

function request(id: number, length: number, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  // The first 2,000 tokens are everyone's.
  const prompt = Int32Array.from({ length }, (_, i) => (i < 2000 ? i : (id * 7919 + i) % 100_000));
  return generateRequest(String(id), prompt, { maxTokens: 16_000, boundaries: [2000], ...changes });
}

/** One token for each slot whose last known token the plan computes. */
class Sampler {
  readonly #left = new Map<number, number>();
  #token = 0;

  sample({ admit, rows }: StepPlan): StepResult {
    for (const { slot, tokens, cachedTokens } of admit) this.#left.set(slot, tokens.length - cachedTokens);
    const slots: number[] = [];
    for (let i = 0; i < rows.length; i += 2) {
      const slot = rows[i] ?? NaN;
      const left = (this.#left.get(slot) ?? NaN) - (rows[i + 1] ?? NaN);
      this.#left.set(slot, left === 0 ? 1 : left);
      if (left === 0) slots.push(slot);
    }
    const none = {
      topOffsets: new Int32Array(slots.length + 1),
      topTokens: new Int32Array(),
      topLogprobs: new Float32Array(),
    };
    return {
      slots: Int32Array.from(slots),
      tokens: Int32Array.from(slots, () => this.#token++ % 100_000),
      finish: new Uint8Array(slots.length),
      logprobs: new Float32Array(slots.length).fill(NaN),
      ...none,
      drafts: new Int32Array(),
      logitHashes: new BigUint64Array(),
      prompt: {
        ...none,
        slots: new Int32Array(),
        positions: new Int32Array(),
        logprobs: new Float32Array(),
        ranks: new Int32Array(),
      },
      embeddings: { slots: new Int32Array(), values: new Float32Array() },
      faults: [],
      rows: 0,
      computeMicros: 0,
      graphs: { captured: 0, replayed: 0, direct: 0, refused: 0, bytes: 0 },
    };
  }
}

function percentile(sorted: readonly number[], percent: number): string {
  return (sorted[Math.floor((sorted.length * percent) / 100)] ?? NaN).toFixed(0).padStart(6);
}

function measure(name: string, blockSize: number, numBlocks: number, waiting: number, tokens: number): void {
  const scheduler = new Scheduler({
    prefixCaching: true,
    hybrid: false,
    numStateSnapshots: 0,
    blockSize,
    numBlocks,
    maxNumSeqs: sequences + 8,
    maxNumBatchedTokens,
    maxModelLen: 32_768,
    speculative: { method: 'none', tokens: 0 },
  });
  const sampler = new Sampler();
  for (let id = 0; id < sequences; id++) scheduler.add(request(id, tokens + (id % 64)));
  const micros: number[] = [];
  for (let step = 0; step < steps; step++) {
    // All are running by then.
    if (step === steps / 2) for (let id = 0; id < waiting; id++) scheduler.add(request(10_000 + id, 12_000));
    const planning = performance.now();
    const planned = scheduler.plan();
    const plannedAt = performance.now();
    if (planned === null) throw new Error('nothing to plan');
    const result = sampler.sample(planned.plan);
    const postprocessing = performance.now();
    scheduler.postprocess(result);
    const spent = plannedAt - planning + performance.now() - postprocessing;
    if (step > steps / 2) micros.push(1000 * spent);
  }
  const { running, preemptionsTotal } = scheduler.stats;
  const sorted = micros.sort((a, b) => a - b);
  console.log(
    `${name.padEnd(52)} ${percentile(sorted, 50)} ${percentile(sorted, 90)} ${percentile(sorted, 99)}`,
    `  ${running} running, ${preemptionsTotal} preemptions`,
  );
}

console.log(`${'us per step: plan() + postprocess()'.padEnd(52)}    p50    p90    p99`);
measure('decodes, blocks of 64', 64, 40_000, 0, 200);
measure('decodes, blocks of 16', 16, 160_000, 0, 200);
measure('decodes, and a prompt waits that finds no room', 16, 20_000, 8, 200);
measure('decodes over a shared prefix of 2,000 tokens', 16, 160_000, 0, 2100);
