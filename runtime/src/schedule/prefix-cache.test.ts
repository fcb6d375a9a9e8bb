import { describe, expect, test } from '@jest/globals';
import { asking, faultOf, hybrid, text, World } from './cache-world.fixture.js';
import type { GenerateRequest } from './generation.js';
import { expectedTokens } from './token-hashes.fixture.js';
import { drain } from './workload.fixture.js';

describe('prefix cache of an attention model', () => {
  test.each([
    ['the same prompt', 100, 0, 96],
    ['a prompt of whole blocks, of which the last token is computed anyway', 96, 0, 80],
    ['a longer prompt that begins the same', 100, 50, 96],
    ['one shorter than a block', 15, 0, 0],
  ])('%s starts behind the blocks that are there', (_, shared, more, cached) => {
    const world = new World();
    expect(world.ask(asking(text('a', shared)))).toBe(0);
    expect(world.ask(asking([...text('a', shared), ...text('b', more)]))).toBe(cached);
  });

  test('a prompt is found exactly as far as it is equal', () => {
    const world = new World();
    const first = text('a', 100);
    world.ask(asking(first));
    expect(world.ask(asking([...first.slice(0, 40), 999, ...first.slice(41)]))).toBe(32);
    expect(world.ask(asking([999, ...first.slice(1)]))).toBe(0);
  });

  test('an answer is reused by the next turn, except for its last token, which was never computed', () => {
    const world = new World();
    const prompt = text('a', 40);
    const answer = expectedTokens(prompt, 25, []);
    world.ask(asking(prompt, { maxTokens: 25 }));
    expect(world.ask(asking([...prompt, ...answer, 5, 6, 7]))).toBe(64);
  });

  test('what a running sequence has computed is shared with others while it runs', () => {
    const world = new World();
    world.scheduler.add(asking(text('a', 100), { maxTokens: 50 }));
    world.step();
    const second = asking(text('a', 100), { maxTokens: 50 });
    world.scheduler.add(second);
    expect(world.step()).toEqual(new Map([[second.id, 96]]));
    // Six shared blocks, and one to write to for each.
    expect(world.scheduler.stats.blocksUsed).toBe(6 + 2);
  });

  test('twins that were computed side by side end up with one copy', () => {
    const world = new World({ maxNumBatchedTokens: 256 });
    for (let i = 0; i < 2; i++) world.scheduler.add(asking(text('a', 100), { maxTokens: 30 }));
    world.step();
    expect(world.scheduler.stats.blocksUsed).toBe(6 + 2);
    expect(world.model.blocksHeld).toBe(14);
    world.step();
    expect(world.model.blocksHeld).toBe(6 + 2);
    drain(world.scheduler, world.model);
  });

  test('blocks are used, cached or free; only those in use count as such', () => {
    const world = new World();
    world.ask(asking(text('a', 100)));
    expect(world.scheduler.stats).toMatchObject({ blocksUsed: 0, blocksCached: 6, blocksTotal: 64 });
    world.scheduler.add(asking(text('a', 100)));
    world.step();
    expect(world.scheduler.stats).toMatchObject({ blocksUsed: 7, blocksCached: 0 });
  });

  test('after a flush nothing from before it is reused, not even from sequences that run', () => {
    const world = new World();
    world.ask(asking(text('old', 100)));
    world.scheduler.add(asking(text('a', 100), { maxTokens: 50 }));
    world.step();
    world.scheduler.flushCache();
    expect(world.scheduler.stats).toMatchObject({ blocksUsed: 7, blocksCached: 0 });
    const twin = asking(text('a', 100), { maxTokens: 50 });
    world.scheduler.add(twin);
    expect(world.step()).toEqual(new Map([[twin.id, 0]]));
    drain(world.scheduler, world.model);
    expect(world.scheduler.stats.blocksUsed).toBe(0);
    expect(world.ask(asking(text('old', 100)))).toBe(0);
    expect(world.ask(asking(text('a', 100)))).toBe(96);
  });

  test('cached blocks go when blocks are needed, the longest unused first', () => {
    const world = new World({ numBlocks: 12 });
    world.ask(asking(text('old', 64)));
    world.ask(asking(text('new', 64)));
    expect(world.ask(asking(text('old', 64)))).toBe(48);
    // Eight blocks: four free ones, and those of `new`.
    world.ask(asking(text('third', 128), { maxTokens: 1 }));
    expect(world.scheduler.stats.blocksCached).toBe(12);
    expect(world.ask(asking(text('old', 64)))).toBe(48);
    expect(world.ask(asking(text('new', 64)))).toBe(0);
  });

  test('of a prompt, the end goes first: what is left of it is still of use', () => {
    const world = new World({ numBlocks: 8 });
    world.ask(asking(text('a', 64)));
    // Six blocks: four free ones and two cached.
    world.ask(asking(text('b', 90), { maxTokens: 1 }));
    expect(world.ask(asking(text('a', 64)))).toBe(32);
  });

  test('a cancelled request leaves what it had computed', () => {
    const world = new World();
    const cancelled = asking(text('a', 300));
    world.scheduler.add(cancelled);
    world.step();
    world.scheduler.cancel(cancelled.id);
    expect(world.ask(asking(text('a', 300)))).toBe(128);
  });

  test('a preempted sequence continues from what is left of its blocks', () => {
    const world = new World({ numBlocks: 10 });
    const [old, young] = [asking(text('a', 60), { maxTokens: 80 }), asking(text('b', 60), { maxTokens: 80 })];
    for (const each of [old, young]) world.scheduler.add(each);
    const { tokens } = drain(world.scheduler, world.model);
    for (const { id, prompt } of [old, young])
      expect(tokens.get(id)).toEqual(expectedTokens([...prompt], 80, []));
    expect(world.scheduler.stats.preemptionsTotal).toBeGreaterThan(0);
    // Being found again after a preemption is no hit of a prompt.
    expect(world.scheduler.stats).toMatchObject({ prefixCacheQueriesTotal: 120, prefixCacheHitsTotal: 0 });
  });

  test('one whose blocks are all those of an older one gives way alone: taking them back would free nothing', () => {
    const world = new World({ numBlocks: 10 });
    const asked = ['a', 'c', 'a'].map((name) => asking(text(name, 60), { maxTokens: 30 }));
    world.scheduler.add(asked[0]!);
    world.step();
    for (const each of asked.slice(1)) world.scheduler.add(each);
    // The last reaches the end of a block that it shares, as the second takes the only free one.
    const { tokens } = drain(world.scheduler, world.model);
    for (const { id, prompt } of asked.slice(1))
      expect(tokens.get(id)).toEqual(expectedTokens(prompt, 30, []));
    expect(world.scheduler.stats.preemptionsTotal).toBeGreaterThan(0);
  });

  test('prompts with different salts share nothing', () => {
    const world = new World();
    const prompt = text('a', 100);
    world.ask(asking(prompt, { cacheSalt: 'one' }));
    expect(world.ask(asking(prompt, { cacheSalt: 'two' }))).toBe(0);
    expect(world.ask(asking(prompt))).toBe(0);
    expect(world.ask(asking(prompt, { cacheSalt: 'one' }))).toBe(96);
  });

  test('blocks of a sequence whose values were not finite are not reused', () => {
    const world = new World();
    world.scheduler.add(asking(text('a', 100)));
    const { plan } = world.scheduler.plan()!;
    const result = world.model.step(plan);
    const { faulted } = world.scheduler.postprocess({ ...result, faults: [faultOf(result.slots[0]!)] });
    expect(faulted).toHaveLength(1);
    expect(world.scheduler.stats).toMatchObject({ blocksUsed: 0, blocksCached: 0 });
    expect(world.ask(asking(text('a', 100)))).toBe(0);
  });

  test('switched off it finds nothing and keeps nothing', () => {
    const world = new World({ prefixCaching: false });
    world.ask(asking(text('a', 100)));
    expect(world.ask(asking(text('a', 100)))).toBe(0);
    const nothing = { blocksCached: 0, prefixCacheQueriesTotal: 0, prefixCacheHitsTotal: 0 };
    expect(world.scheduler.stats).toMatchObject(nothing);
  });

  test.each<[string, Partial<GenerateRequest>]>([
    ['scores of its tokens are asked for', { promptLogprobs: true }],
    ['the mean of it is', { pooling: 'mean' }],
    ['its first token is', { pooling: 'cls' }],
  ])('a prompt is not looked up where %s', (_, changes) => {
    const world = new World();
    world.scheduler.add(asking(text('a', 100), changes));
    world.step();
    expect(world.scheduler.stats.prefixCacheQueriesTotal).toBe(0);
  });

  test('counts the tokens it was asked for and those it had', () => {
    const world = new World();
    world.ask(asking(text('a', 100)));
    world.ask(asking(text('a', 120)));
    expect(world.scheduler.stats).toMatchObject({
      prefixCacheQueriesTotal: 220,
      prefixCacheHitsTotal: 96,
    });
  });
});

describe('prefix cache of a hybrid model', () => {
  test.each([16, 32, 64, 128])('reuse ends on whole chunks and whole blocks of %d tokens', (blockSize) => {
    const world = new World({ blockSize }, hybrid);
    const unit = Math.max(64, blockSize);
    world.ask(asking(text('a', 300)));
    expect(world.ask(asking(text('a', 300)))).toBe(Math.floor(299 / unit) * unit);
    expect(world.ask(asking(text('a', 257)))).toBe(256);
  });

  test.each([
    [63, 0],
    [64, 0],
    [65, 64],
    [129, 128],
  ])('of a prompt of %d tokens, %d are found the next time', (length, cached) => {
    const world = new World({}, hybrid);
    world.ask(asking(text('a', length)));
    expect(world.ask(asking(text('a', length)))).toBe(cached);
  });

  test('generated tokens are not reused: they were computed in another form', () => {
    const world = new World({}, hybrid);
    const prompt = text('a', 130);
    world.ask(asking(prompt, { maxTokens: 200 }));
    const answer = expectedTokens(prompt, 200, []);
    expect(world.ask(asking([...prompt, ...answer]))).toBe(128);
  });

  test('with its end known as a boundary, a system prompt is shared from the second chat on', () => {
    const world = new World({}, hybrid);
    const chat = (name: string) =>
      asking([...text('system', 200), ...text(name, 100)], { boundaries: [200, 299] });
    expect(world.ask(chat('a'))).toBe(0);
    expect(world.ask(chat('b'))).toBe(192);
  });

  test('without hints, from the third prompt on: the second saves the state where it leaves the first', () => {
    const world = new World({}, hybrid);
    const prompt = (name: string) => asking([...text('shared', 200), ...text(name, 100)]);
    expect(['a', 'b', 'c', 'd'].map((name) => world.ask(prompt(name)))).toEqual([0, 0, 192, 192]);
  });

  test('the least recently used state is evicted; its blocks stay, and are of use once it is saved again', () => {
    const world = new World({ numStateSnapshots: 2 }, hybrid);
    for (const name of ['a', 'b', 'a', 'c']) world.ask(asking(text(name, 100)));
    expect(world.scheduler.stats).toMatchObject({ snapshotsKept: 2, blocksCached: 12 });
    expect(world.ask(asking(text('a', 100)))).toBe(64);
    expect(world.ask(asking(text('b', 100)))).toBe(0);
    expect(world.ask(asking(text('b', 100)))).toBe(64);
  });

  test('a state goes with its blocks', () => {
    const world = new World({ numBlocks: 10 }, hybrid);
    world.ask(asking(text('a', 100)));
    world.ask(asking(text('b', 150)));
    expect(world.ask(asking(text('a', 100)))).toBe(0);
    expect(world.scheduler.stats.snapshotsKept).toBeLessThanOrEqual(2);
  });

  test('without places for states nothing is cached', () => {
    const world = new World({ numStateSnapshots: 0 }, hybrid);
    world.ask(asking(text('a', 100)));
    expect(world.ask(asking(text('a', 100)))).toBe(0);
    expect(world.scheduler.stats.blocksCached).toBe(0);
  });

  test('a request cancelled while its state is written leaves no state behind', () => {
    const world = new World({ numStateSnapshots: 1 }, hybrid);
    const cancelled = asking(text('a', 100));
    world.scheduler.add(cancelled);
    const { plan } = world.scheduler.plan()!;
    expect([...plan.saves]).toEqual([0, 64, 0]);
    world.scheduler.cancel(cancelled.id);
    world.scheduler.postprocess(world.model.step(plan));
    expect(world.scheduler.stats.snapshotsKept).toBe(0);
    world.ask(asking(text('b', 100)));
    expect(world.ask(asking(text('b', 100)))).toBe(64);
  });
});
