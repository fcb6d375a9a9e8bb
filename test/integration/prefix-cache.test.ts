// The prefix cache with real engines, hybrid and attention-only: whatever is reused, evicted, preempted or cancelled,
// every token and every logprob has the bits that it has without the cache.

import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { loadEngine } from '@llmservice/native';
import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { GenerateRequest } from '../../runtime/src/schedule/generation.js';
import {
  Scheduler,
  type SchedulerLimits,
  type SchedulerStats,
} from '../../runtime/src/schedule/scheduler.js';

// Seconds on an idle machine.
jest.setTimeout(180_000);

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const models = [
  { name: 'llama', modelDir: folder('../golden/models/llama-bf16'), hybrid: false, vocab: 320 },
  { name: 'hybrid', modelDir: folder('../golden/models/qwen3_5-bf16'), hybrid: true, vocab: 320 },
  { name: 'demo', modelDir: folder('../../deploy/demo-model/checkpoint'), hybrid: true, vocab: 2000 },
];
type Model = (typeof models)[number];

const limits = {
  blockSize: 16,
  numBlocks: 256,
  maxNumSeqs: 6,
  numStateSnapshots: 0,
  maxNumBatchedTokens: 192,
  maxModelLen: 512,
};

/** `length` tokens that only the name decides. */
function text(name: string, length: number, vocab: number): number[] {
  let state = Array.from(name).reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) >>> 0, 7);
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % vocab;
  });
}

function request(
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

interface Arrival {
  readonly step: number;
  readonly request: GenerateRequest;
  /** Step at which it is cancelled. */
  readonly cancelAt?: number;
}

/** Prompts that begin alike in many ways, arriving while others run; some twice, some cancelled, two of them endless. */
function workload(vocab: number): Arrival[] {
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

interface Outcome {
  /** By request: tokens and logprobs, in full precision. */
  readonly outputs: Map<string, string[]>;
  readonly stats: SchedulerStats;
  readonly cachedTokens: Map<string, number>;
}

/** Runs a workload on an engine of its own. */
async function run(
  model: Model,
  changes: Partial<SchedulerLimits>,
  arrivals: readonly Arrival[],
): Promise<Outcome> {
  const room = { ...limits, ...changes };
  const options = {
    modelDir: model.modelDir,
    dtype: 'auto',
    kvCacheDtype: 'auto',
    threads: 1,
    isa: 'auto',
    logitHashes: false,
    place: null,
    quantization: 'none',
  } as const;
  const engine = await loadEngine({ ...options, ...room }, () => undefined);
  expect(engine.info.hybrid).toBe(model.hybrid);
  const scheduler = new Scheduler({ prefixCaching: false, ...room, hybrid: model.hybrid });
  const outputs = new Map<string, string[]>();
  const cachedTokens = new Map<string, number>();
  try {
    for (let step = 0; ; step++) {
      for (const { request: asked } of arrivals.filter((each) => each.step === step)) scheduler.add(asked);
      for (const { request: asked } of arrivals.filter((each) => each.cancelAt === step))
        scheduler.cancel(asked.id);
      const planned = scheduler.plan();
      if (planned === null && arrivals.every((each) => each.step <= step)) break;
      if (planned === null) continue;
      for (const { id, cachedTokens: cached } of planned.started) cachedTokens.set(id, cached);
      for (const { id, token, logprobs } of scheduler.absorb(await engine.step(planned.plan)).sampled) {
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
  return { outputs, stats: scheduler.stats, cachedTokens };
}

describe.each(models)('$name', (model) => {
  const arrivals = workload(model.vocab);
  const snapshots = model.hybrid ? 16 : 0;
  const cancelled = new Set(
    arrivals.filter(({ cancelAt }) => cancelAt !== undefined).map(({ request: { id } }) => id),
  );
  let off: Outcome | null = null;

  test.each<[string, Partial<SchedulerLimits>, (stats: SchedulerStats) => void]>([
    [
      'with room for all',
      { numStateSnapshots: snapshots },
      (stats) => expect(stats.preemptionsTotal).toBe(0),
    ],
    [
      'with blocks for little more than what runs, so that cached ones are evicted and sequences preempted',
      { numBlocks: 40, numStateSnapshots: Math.min(3, snapshots) },
      (stats) => expect(stats.preemptionsTotal).toBeGreaterThan(0),
    ],
    ['with large blocks', { blockSize: 64, numBlocks: 64, numStateSnapshots: snapshots }, () => undefined],
  ])('gives the same bits with the cache on and off, %s', async (_, changes, check) => {
    off ??= await run(model, {}, arrivals);
    const on = await run(model, { ...changes, prefixCaching: true }, arrivals);
    check(on.stats);
    expect(on.stats.prefixCacheHitsTotal).toBeGreaterThan(500);
    expect(off.stats.prefixCacheHitsTotal).toBe(0);
    for (const { request: asked } of arrivals) {
      const [got, wanted] = [on.outputs.get(asked.id) ?? [], off.outputs.get(asked.id) ?? []];
      // A cancelled request gets further or less far, depending on when it was its turn.
      const both = cancelled.has(asked.id) ? Math.min(got.length, wanted.length) : asked.maxTokens;
      expect(got.slice(0, both)).toEqual(wanted.slice(0, both));
      if (!cancelled.has(asked.id)) expect(got).toHaveLength(asked.maxTokens);
    }
  });
});

describe('hit rates on the demo model, a hybrid', () => {
  const [, , demo] = models as [Model, Model, Model];
  const room = { numBlocks: 700, maxModelLen: 4096, maxNumBatchedTokens: 512, numStateSnapshots: 16 };

  test.each([
    ['chats: over 90 % from the second on', [2000], 1],
    ['raw prompts: over 90 % from the third on', [], 2],
  ])('a shared prefix of 2,000 tokens in %s, and the same bits', async (_, boundaries, misses) => {
    const system = text('system', 2000, demo.vocab);
    const arrivals = Array.from({ length: 4 }, (_, i) => {
      const prompt = [...system, ...text(`question ${i}`, 90 + i, demo.vocab)];
      return { step: 10 * i, request: request(`chat ${i}`, prompt, { maxTokens: 4, boundaries }) };
    });
    const on = await run(demo, { ...room, prefixCaching: true }, arrivals);
    const rates = arrivals.map(({ request: { id, prompt } }) => on.cachedTokens.get(id)! / prompt.length);
    expect(rates.slice(0, misses)).toEqual(Array.from({ length: misses }, () => 0));
    for (const rate of rates.slice(misses)) expect(rate).toBeGreaterThan(0.9);
    const off = await run(demo, room, arrivals);
    expect(on.outputs).toEqual(off.outputs);
  });
});
