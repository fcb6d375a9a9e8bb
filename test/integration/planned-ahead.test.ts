// Steps that wait in a real engine behind those that run, hybrid and attention-only: sequences end at tokens that nobody
// knew when the next step was planned, and every token and logprob has the bits that it has when steps alternate and
// nobody drafts, whatever the drafts.

import { expect, jest, test } from '@jest/globals';
import { models, run, workload, type Arrival } from './scheduled-engine.js';

// Seconds on an idle machine.
jest.setTimeout(180_000);

/** The same, where most end at a token that they give. */
async function withStops(model: (typeof models)[number]): Promise<Arrival[]> {
  const arrivals = workload(model.vocab);
  const { outputs } = await run(model, {}, arrivals);
  return arrivals.map((arrival, i) => {
    const tokens = (outputs.get(arrival.request.id) ?? []).map((line) => Number.parseInt(line, 10));
    const stopTokens = i % 4 === 0 ? [] : tokens.slice(i % 7, (i % 7) + 1);
    return {
      ...arrival,
      // Apart, so that there are steps with nobody waiting.
      step: 3 * arrival.step,
      request: { ...arrival.request, stopTokens: Int32Array.from(stopTokens) },
    };
  });
}

test.each(models)('$name gives the same bits', async (model) => {
  const arrivals = await withStops(model);
  const snapshots = model.hybrid ? 16 : 0;
  const alternating = await run(model, {}, arrivals);
  const speculative = { method: model.drafts, tokens: 3 };
  const caching = { prefixCaching: true, numStateSnapshots: snapshots, numBlocks: 40 };
  for (const changes of [{}, caching, { ...caching, speculative }]) {
    const ahead = await run(model, changes, arrivals, true);
    expect(ahead.stepsAhead).toBeGreaterThan(50);
    if ('speculative' in changes) expect(ahead.stats.drafts.draftTokensTotal).toBeGreaterThan(5);
    expect(alternating.stepsAhead).toBe(0);
    for (const { request, cancelAt } of arrivals) {
      const [got, wanted] = [ahead, alternating].map(({ outputs }) => outputs.get(request.id) ?? []);
      // A cancelled request gets further or less far, depending on when it was its turn.
      const both = cancelAt === undefined ? undefined : Math.min(got!.length, wanted!.length);
      expect(got!.slice(0, both)).toEqual(wanted!.slice(0, both));
    }
  }
});
