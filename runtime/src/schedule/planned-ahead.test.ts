// Steps that are planned before the one in flight is postprocessed: what is in them, when there are none, and that one which is
// taken back leaves nothing behind.

import { expect, test } from '@jest/globals';
import { asking, hybrid, text, World } from './cache-world.fixture.js';
import type { Scheduler } from './scheduler.js';
import type { StepModel } from './step-model.fixture.js';
import { expectedTokens } from './token-hashes.fixture.js';
import { request } from './workload.fixture.js';

/** Plans two steps, of which the second does not know what the first gives, and runs both. */
function runTwo(scheduler: Scheduler, model: StepModel): void {
  const plans = [scheduler.plan()!.plan, scheduler.planAhead()!.plan];
  for (const result of plans.map((plan) => model.step(plan))) scheduler.postprocess(result);
}

test('decodes what the step in flight gives its token, and continues with prompts', () => {
  const { scheduler, model } = new World({ maxNumBatchedTokens: 70 });
  scheduler.add(request('short', 5, 9));
  scheduler.add(request('long', 200, 9));
  const { plan } = scheduler.plan()!;
  expect([...plan.rows]).toEqual([0, 5, 1, 64]);
  const ahead = scheduler.planAhead()!.plan;
  expect(ahead.ahead).toBe(true);
  expect([...ahead.rows]).toEqual([0, 1, 1, 64]);
  expect(scheduler.planAhead()).toBeNull();
  expect(() => scheduler.plan()).toThrow('in flight');
  scheduler.postprocess(model.step(plan));
  scheduler.postprocess(model.step(ahead));
});

test('has no row of a sequence that is known to end', () => {
  const { scheduler, model } = new World();
  scheduler.add(request('two', 5, 2));
  scheduler.add({ ...request('pooled', 5, 0), pooling: 'last' });
  scheduler.add(request('one', 5, 1));
  const { plan } = scheduler.plan()!;
  const ahead = scheduler.planAhead()!.plan;
  expect([...ahead.rows]).toEqual([0, 1]);
  scheduler.postprocess(model.step(plan));
  // The step ahead is in flight now, and gives the last token.
  expect(scheduler.planAhead()).toBeNull();
});

test.each([
  ['somebody waits for blocks', { numBlocks: 3 }, [request('runs', 20, 9), request('waits', 20, 9)]],
  [
    'somebody waits for a slot whose sequence is at its end',
    { maxNumSeqs: 2 },
    [request('ends', 5, 1), request('runs', 5, 9), request('waits', 5, 9)],
  ],
  ['blocks for all that decode are lacking', { numBlocks: 3 }, [request('a', 16, 9), request('b', 16, 9)]],
])('is not planned where %s', (_, changes, requests) => {
  const { scheduler } = new World(changes);
  for (const each of requests) scheduler.add(each);
  expect(scheduler.plan()).not.toBeNull();
  expect(scheduler.planAhead()).toBeNull();
  expect(scheduler.stats.preemptionsTotal).toBe(0);
});

test('is planned while somebody waits for a slot that only a token which nobody knows may free', () => {
  const { scheduler, model } = new World({ maxNumSeqs: 1 });
  scheduler.add(request('runs', 5, 9));
  scheduler.add(request('waits', 5, 9));
  const { plan } = scheduler.plan()!;
  expect([...scheduler.planAhead()!.plan.rows]).toEqual([0, 1]);
  expect(scheduler.leavesRoomAhead('waits')).toBe(false);
  // Its slot is for whoever waits.
  expect(scheduler.leavesRoomAhead('runs')).toBe(true);
  scheduler.withdraw();
  scheduler.cancel('runs');
  scheduler.postprocess(model.step(plan));
  expect(scheduler.plan()!.started).toMatchObject([{ id: 'waits' }]);
});

test('of a sequence that ended meanwhile nothing is cached that was not computed', () => {
  const world = new World();
  const { scheduler, model } = world;
  const prompt = text('prompt', 14);
  const [first, stop] = expectedTokens(prompt, 2, []);
  scheduler.add(asking(prompt, { maxTokens: 50, stopTokens: Int32Array.of(stop!) }));
  scheduler.postprocess(model.step(scheduler.plan()!.plan));
  // The row of the stop token would have filled the block.
  runTwo(scheduler, model);
  expect(scheduler.stats).toMatchObject({ running: 0, blocksUsed: 0, blocksCached: 0 });
  expect(model.leftOut).toBe(1);
  expect(world.ask(asking([...prompt, first!, stop!, 7, 7]))).toBe(0);
});

test('verifies at most the drafts that the step in flight makes, and reserves blocks for all that they may give', () => {
  const { scheduler, model } = new World({ speculative: { method: 'ngram', tokens: 3 } });
  scheduler.add(request('one', 13, 40));
  const prompt = scheduler.plan()!.plan;
  expect(prompt.drafts).toBe(3);
  const first = scheduler.planAhead()!.plan;
  // One token and 3 drafts behind 13: the 17 that there may be, and a place for none of the drafts after them.
  expect([...first.rows, ...first.blocks]).toEqual([0, 4, 0, 1]);
  scheduler.postprocess(model.step(prompt));
  const second = scheduler.planAhead()!.plan;
  expect([...second.rows]).toEqual([0, 4]);
  const drafts = scheduler.stats.drafts.draftTokensTotal;
  for (const plan of [first, second]) scheduler.postprocess(model.step(plan));
  expect(scheduler.stats.drafts.draftTokensTotal).toBeGreaterThan(drafts);
});

test('the cache is not emptied while a step is in flight', () => {
  const { scheduler } = new World();
  scheduler.add(request('one', 5, 9));
  scheduler.plan();
  expect(() => scheduler.flushCache()).toThrow('in flight');
});

test.each(['none', 'ngram', 'mtp'] as const)(
  'taken back and planned again, it is the same: drafts %s',
  (method) => {
    const speculative = { method, tokens: method === 'none' ? 0 : 3 };
    const worlds = [0, 1].map(
      () => new World({ maxNumBatchedTokens: 230, numBlocks: 200, speculative }, hybrid),
    );
    const twins = text('twin', 140);
    const takenBack = { rows: 0, blocks: 0, saves: 0, release: 0, replace: 0 };
    const plans = worlds.map(({ scheduler, model }, takesBack) => {
      const all: unknown[] = [];
      scheduler.add(request('cancelled', 20, 90));
      for (const id of ['a', 'b']) scheduler.add({ ...request(id, 1, 90), prompt: Int32Array.from(twins) });
      let next = scheduler.plan();
      for (let step = 0; step < 40; step++) {
        const { plan } = next!;
        if (step === 5) scheduler.cancel('cancelled');
        next = scheduler.planAhead();
        if (takesBack === 1) {
          for (const part of Object.keys(takenBack) as (keyof typeof takenBack)[])
            takenBack[part] += next!.plan[part].length;
          scheduler.withdraw();
          next = scheduler.planAhead();
        }
        scheduler.postprocess(model.step(plan));
        all.push(plan, scheduler.stats);
      }
      return all;
    });
    expect(plans[1]).toEqual(plans[0]);
    for (const length of Object.values(takenBack)) expect(length).toBeGreaterThan(0);
  },
);
