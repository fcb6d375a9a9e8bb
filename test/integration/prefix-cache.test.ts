// The prefix cache with real engines, hybrid and attention-only: whatever is reused, evicted, preempted or cancelled,
// every token and every logprob has the bits that it has without the cache.

import { describe, expect, jest, test } from '@jest/globals';
import type { SchedulerLimits, SchedulerStats } from '../../runtime/src/schedule/scheduler.js';
import { models, request, run, text, workload, type Model, type Outcome } from './scheduled-engine.js';

// Seconds on an idle machine.
jest.setTimeout(180_000);

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
