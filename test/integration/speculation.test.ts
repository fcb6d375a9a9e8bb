// Speculation with real engines under a scheduler that preempts, shares prefixes and plans steps ahead: every token and
// every logprob has the bits that it has without any of it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { readModelFiles } from '../../runtime/src/load-model.js';
import { makeLogger } from '../../runtime/src/log/logger.js';
import { generateRequest, greedy } from '../../runtime/src/schedule/generate-request.fixture.js';
import type { SchedulerLimits } from '../../runtime/src/schedule/scheduler.js';
import { models, run, workload, type Arrival, type Model, type Outcome } from './scheduled-engine.js';

// Seconds on an idle machine.
jest.setTimeout(240_000);

/** The same, every other one greedy and twice as long: so random weights, too, come to repeat themselves. */
const repeating = (arrivals: readonly Arrival[]): Arrival[] =>
  arrivals.map((arrival, i) => {
    const { request } = arrival;
    const greedily = {
      ...request,
      sampling: { ...greedy, topLogprobs: 2 },
      maxTokens: 2 * request.maxTokens,
    };
    return i % 2 === 0 ? { ...arrival, request: greedily } : arrival;
  });

describe.each(models)('$name', (model) => {
  const arrivals = repeating(workload(model.vocab).filter(({ cancelAt }) => cancelAt === undefined));
  const snapshots = model.hybrid ? 3 : 0;
  const roomy: Partial<SchedulerLimits> = { numStateSnapshots: snapshots, prefixCaching: true };
  const tight = { ...roomy, numBlocks: 30 };
  let off: Outcome | null = null;

  test.each<[string, Partial<SchedulerLimits>]>([
    ['by n-gram', { ...roomy, speculative: { method: 'ngram', tokens: 4 } }],
    ['by n-gram, short of blocks', { ...tight, speculative: { method: 'ngram', tokens: 4 } }],
    ...(model.hybrid
      ? ([
          ['by its own layer', { ...roomy, speculative: { method: 'mtp', tokens: 3 } }],
          ['by its own layer, short of blocks', { ...tight, speculative: { method: 'mtp', tokens: 3 } }],
        ] as [string, Partial<SchedulerLimits>][])
      : []),
  ])('gives the same bits with drafts %s', async (_, changes) => {
    off ??= await run(model, {}, arrivals);
    const on = await run(model, changes, arrivals, true);
    expect(on.outputs).toEqual(off.outputs);
    expect(on.stepsAhead).toBeGreaterThan(changes.numBlocks === undefined ? 20 : 5);
    expect(on.stats.prefixCacheHitsTotal).toBeGreaterThan(500);
    expect(on.stats.drafts.draftTokensTotal).toBeGreaterThan(5);
    if (changes.numBlocks !== undefined) expect(on.stats.preemptionsTotal).toBeGreaterThan(0);
  });
});

describe('the demo model, whose layer for multi-token prediction is trained', () => {
  const demo = models.at(-1) as Model;

  /** Questions that it can answer, one after another. */
  async function questions(count: number): Promise<Arrival[]> {
    const file = fileURLToPath(new URL('../../deploy/demo-model/questions/llmservice.txt', import.meta.url));
    const asked = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^\w.* \| /.test(line))
      .slice(0, count);
    const { tokenizer, chatTemplate, defaults, processes } = await readModelFiles(
      demo.modelDir,
      makeLogger('error'),
    );
    await processes.close();
    const arrivals: Arrival[] = [];
    for (const [i, line] of asked.entries()) {
      const text = await chatTemplate!.render({
        messages: [{ role: 'user', content: `${line.split(' | ')[0]}?` }],
      });
      const prompt = await tokenizer.encode(text, { addSpecialTokens: false });
      const stopTokens = Int32Array.from(defaults.eosIds);
      arrivals.push({
        step: 0,
        request: generateRequest(`question ${i}`, prompt, { maxTokens: 80, stopTokens }),
      });
    }
    return arrivals;
  }

  test('answers in less than half as many steps, with more than four of five drafts accepted', async () => {
    const arrivals = await questions(24);
    expect(arrivals).toHaveLength(24);
    const room: Partial<SchedulerLimits> = { maxNumSeqs: 1 };
    const off = await run(demo, room, arrivals);
    const on = await run(demo, { ...room, speculative: { method: 'mtp', tokens: 3 } }, arrivals);
    expect(on.outputs).toEqual(off.outputs);
    const { draftTokensTotal, acceptedTokensTotal } = on.stats.drafts;
    expect(acceptedTokensTotal / draftTokensTotal).toBeGreaterThan(0.8);
    expect(off.steps / on.steps).toBeGreaterThan(2);
  });
});
