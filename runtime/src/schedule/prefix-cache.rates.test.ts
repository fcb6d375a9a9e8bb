import { describe, expect, test } from '@jest/globals';
import { asking, hybrid, text, World } from './cache-world.fixture.js';

describe('prefix cache hit rates', () => {
  const roomy = {
    numBlocks: 4096,
    maxModelLen: 8192,
    maxNumBatchedTokens: 2048,
    numStateSnapshots: 64,
  };

  test('a 2,000-token system prompt: over 90 % of a hybrid’s prompt tokens from the second chat on', () => {
    const world = new World(roomy, hybrid);
    const system = text('system', 2000);
    const rates = Array.from({ length: 8 }, (_, i) => {
      const prompt = [...system, ...text(`question ${i}`, 120)];
      return world.ask(asking(prompt, { boundaries: [2000, 2115] })) / prompt.length;
    });
    expect(rates[0]).toBe(0);
    for (const rate of rates.slice(1)) expect(rate).toBeGreaterThan(0.9);
  });

  test('a 2,000-token prefix of raw prompts: over 90 % from the third on', () => {
    const world = new World(roomy, hybrid);
    const shared = text('shared', 2000);
    const rates = Array.from({ length: 8 }, (_, i) => {
      const prompt = [...shared, ...text(`question ${i}`, 120)];
      return world.ask(asking(prompt)) / prompt.length;
    });
    expect(rates.slice(0, 2)).toEqual([0, 0]);
    for (const rate of rates.slice(2)) expect(rate).toBeGreaterThan(0.9);
  });

  /**
   * A conversation of 5 turns of 400 tokens, question and answer; at each turn 4 branches are asked for. What is cached
   * of all prompt tokens, and of those that an earlier prompt had up to a whole turn.
   */
  function branchingChat(world: World, lastMessage: (turn: number, branch: number) => number[]) {
    let [history, ends]: [number[], number[]] = [[], []];
    const total = { prompt: 0, repeated: 0, cached: 0 };
    for (let turn = 0; turn < 5; turn++) {
      for (let branch = 0; branch < 4; branch++) {
        const prompt = [...history, ...lastMessage(turn, branch)];
        total.cached += world.ask(asking(prompt, { maxTokens: 8, boundaries: [...ends, prompt.length - 3] }));
        total.prompt += prompt.length;
        total.repeated += history.length;
      }
      history = [...history, ...lastMessage(turn, 0)];
      ends = [...ends, history.length - 3];
    }
    return total;
  }

  test('answers asked for anew, 5 turns of 400 tokens with 4 branches each: over 80 % of prompt tokens', () => {
    const chat = branchingChat(new World(roomy, hybrid), (turn) => text(`turn ${turn}`, 400));
    expect(chat.prompt).toBe(4 * (400 + 800 + 1200 + 1600 + 2000));
    expect(chat.cached / chat.prompt).toBeGreaterThan(0.8);
  });

  test('questions asked differently, as many: over 80 % of what an earlier turn had', () => {
    const world = new World(roomy, hybrid);
    const chat = branchingChat(world, (turn, branch) => text(`turn ${turn} branch ${branch}`, 400));
    expect(chat.repeated).toBe(4 * (400 + 800 + 1200 + 1600));
    expect(chat.cached / chat.repeated).toBeGreaterThan(0.8);
  });
});
