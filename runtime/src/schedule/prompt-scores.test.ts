// Scores of prompts: each token's once and in order, whatever is cached, in chunks and after a preemption.

import { describe, expect, test } from '@jest/globals';
import { asking, hybrid, text, World } from './cache-world.fixture.js';

/** Runs all that waits; the positions that were scored and the tokens that stood there, by request. */
function drainScores({ scheduler, model }: World): Map<string, [position: number, token: number][]> {
  const all = new Map<string, [number, number][]>();
  for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
    for (const { id, scores } of scheduler.postprocess(model.step(step.plan)).scored) {
      const reported = scores.map(({ rank, token, logprob }): [number, number] => {
        expect(logprob).toBe(-rank);
        return [rank, token];
      });
      all.set(id, [...(all.get(id) ?? []), ...reported]);
    }
  }
  return all;
}

const expected = (prompt: readonly number[]): [number, number][] =>
  prompt.map((token, position): [number, number] => [position, token]).slice(1);

describe.each([
  ['an attention model', undefined],
  ['a hybrid', hybrid],
] as const)('prompt scores of %s', (_, base) => {
  test('are of every token but the first, in chunks, and of nobody who did not ask', () => {
    const world = new World({}, base);
    const asked = asking(text('a', 300), { promptLogprobs: true });
    world.scheduler.add(asked);
    world.scheduler.add(asking(text('b', 300)));
    expect([...drainScores(world)]).toEqual([[asked.id, expected([...asked.prompt])]]);
  });

  test('are of a prompt that fills the context, and of nothing behind it', () => {
    const world = new World({ maxModelLen: 320 }, base);
    const asked = asking(text('a', 320), { promptLogprobs: true, maxTokens: 0 });
    world.scheduler.add(asked);
    expect([...drainScores(world)]).toEqual([[asked.id, expected([...asked.prompt])]]);
    expect(world.scheduler.stats).toMatchObject({ running: 0, waiting: 0, blocksUsed: 0 });
  });

  test('are not answered from the prefix cache, which the prompt still fills', () => {
    const world = new World({ prefixCaching: true }, base);
    const prompt = text('a', 200);
    expect(world.ask(asking(prompt))).toBe(0);
    const asked = asking(prompt, { promptLogprobs: true });
    expect(world.ask(asked)).toBe(0);
    expect(world.ask(asking(prompt))).toBeGreaterThan(0);
  });

  test('come once where a preemption computes the prompt again', () => {
    const world = new World({ numBlocks: 12, maxModelLen: 160 }, base);
    const all = ['a', 'b', 'c'].map((name) =>
      asking(text(name, 60), { promptLogprobs: true, maxTokens: 90 }),
    );
    for (const each of all) world.scheduler.add(each);
    const scores = drainScores(world);
    expect(world.scheduler.stats.preemptionsTotal).toBeGreaterThan(0);
    for (const { id, prompt } of all) expect(scores.get(id)).toEqual(expected([...prompt]));
  });

  test('there are none of a prompt of one token', () => {
    const world = new World({}, base);
    world.scheduler.add(asking([5], { promptLogprobs: true }));
    expect([...drainScores(world)]).toEqual([]);
  });
});
