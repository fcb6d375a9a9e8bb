// Requests for embeddings alongside generations, and sequences that end by a numerical fault: what they hold, share and
// leave behind.

import { describe, expect, test } from '@jest/globals';
import { asking, faultOf, hybrid, text, withFaults, World } from './cache-world.fixture.js';
import type { Embedded, GenerateRequest } from './generation.js';
import { expectedTokens } from './token-hashes.fixture.js';

const embedding = (prompt: readonly number[], pooling: 'last' | 'mean' | 'cls'): GenerateRequest =>
  asking(prompt, { pooling, maxTokens: 0 });

interface Drained {
  readonly embedded: Map<string, Embedded>;
  readonly tokens: Map<string, number[]>;
  readonly cached: Map<string, number>;
}

function drain({ scheduler, model }: World): Drained {
  const all: Drained = { embedded: new Map(), tokens: new Map(), cached: new Map() };
  for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
    for (const { id, cachedTokens } of step.started) all.cached.set(id, cachedTokens);
    const { sampled, embedded } = scheduler.postprocess(model.step(step.plan));
    for (const each of embedded) all.embedded.set(each.id, each);
    for (const { id, token } of sampled) all.tokens.set(id, [...(all.tokens.get(id) ?? []), token]);
  }
  return all;
}

/** Runs one request alone. */
function embed(world: World, asked: GenerateRequest): { values: number[]; cached: number } {
  world.scheduler.add(asked);
  const { embedded, cached } = drain(world);
  return { values: [...embedded.get(asked.id)!.embedding], cached: cached.get(asked.id)! };
}

describe.each([
  ['an attention model', {}, undefined],
  ['a hybrid', {}, hybrid],
] as const)('embeddings of %s', (_, changes, base) => {
  const world = (): World => new World(changes, base);

  test('run in chunks alongside generations, disturb none, and leave nothing held', () => {
    const both = world();
    const generation = asking(text('a', 100), { maxTokens: 20 });
    const asked = [
      embedding(text('b', 300), 'last'),
      embedding(text('c', 200), 'mean'),
      embedding(text('d', 1), 'mean'),
    ];
    both.scheduler.add(generation);
    for (const each of asked) both.scheduler.add(each);
    const { embedded, tokens } = drain(both);
    expect([...embedded.keys()].sort()).toEqual(asked.map(({ id }) => id).sort());
    expect(tokens.get(generation.id)).toEqual(expectedTokens(generation.prompt, 20, []));
    for (const each of asked) {
      expect([...embedded.get(each.id)!.embedding]).toEqual(embed(world(), { ...each, id: 'alone' }).values);
    }
    expect(both.scheduler.stats).toMatchObject({
      running: 0,
      waiting: 0,
      blocksUsed: 0,
      generationTokensTotal: 20,
    });
  });

  test('of the last token start from what is cached; means compute all, and cache it for others', () => {
    const shared = world();
    const prompt = text('a', 150);
    const first = embed(shared, embedding(prompt, 'mean'));
    expect(first.cached).toBe(0);
    const last = embed(shared, embedding(prompt, 'last'));
    expect(last.cached).toBeGreaterThanOrEqual(128);
    expect(last.values).toEqual(embed(world(), embedding(prompt, 'last')).values);
    expect(embed(shared, embedding(prompt, 'mean'))).toEqual(first);
    expect(shared.ask(asking(prompt))).toBe(last.cached);
  });

  test('may be as long as the context, and need blocks for every token', () => {
    const small = new World({ numBlocks: 32 }, base);
    expect(embed(small, embedding(text('a', 512), 'last')).values).toHaveLength(1);
    expect(() => small.scheduler.add(embedding(text('a', 513), 'last'))).toThrow('513 tokens');
    const smaller = new World({ numBlocks: 31 }, base);
    expect(() => smaller.scheduler.add(embedding(text('a', 512), 'last'))).toThrow('32 KV blocks');
  });

  test('are computed again after a preemption, to the same end', () => {
    const tight = new World({ numBlocks: 16 }, base);
    const old = asking(text('a', 60), { maxTokens: 150 });
    const young = embedding(text('b', 190), 'mean');
    tight.scheduler.add(old);
    tight.step();
    tight.scheduler.add(young);
    const { embedded, tokens } = drain(tight);
    expect([...embedded.get(young.id)!.embedding]).toEqual(embed(world(), { ...young, id: 'alone' }).values);
    expect(tokens.get(old.id)).toHaveLength(149);
  });
});

describe('embeddings of an encoder', () => {
  const world = (): World => new World({ bidirectional: true, maxModelLen: 128 });

  test('take one step each, whole, and as many together as have rows', () => {
    const { scheduler, model } = world();
    const asked = [100, 20, 8, 128, 1].map((length) => embedding(text('a', length), 'mean'));
    for (const each of asked) scheduler.add(each);
    const steps: number[][] = [];
    for (let step = scheduler.plan(); step !== null; step = scheduler.plan()) {
      steps.push([...step.plan.rows].filter((_, i) => i % 2 === 1));
      expect(step.plan.admit.map(({ cachedTokens }) => cachedTokens)).toEqual(step.plan.admit.map(() => 0));
      scheduler.postprocess(model.step(step.plan));
    }
    expect(steps).toEqual([[100, 20, 8], [128], [1]]);
  });

  test('start from nothing that is cached', () => {
    const twice = world();
    const prompt = text('a', 100);
    for (const pooling of ['last', 'mean', 'cls'] as const) {
      expect(embed(twice, embedding(prompt, pooling)).cached).toBe(0);
      expect(twice.scheduler.stats).toMatchObject({ blocksUsed: 0, blocksCached: 0 });
    }
  });

  test('are refused where no step has rows for all of it', () => {
    const { scheduler } = new World({ bidirectional: true });
    expect(() => scheduler.add(embedding(text('a', 129), 'mean'))).toThrow('129 tokens; a step has 128 rows');
  });
});

describe('a numerical fault', () => {
  /** Runs steps, and makes the rows of `faulty` meet a fault at the given step. */
  function faultAt(world: World, asked: GenerateRequest, at: number): void {
    world.scheduler.add(asked);
    for (let step = 0; ; step++) {
      const { plan } = world.scheduler.plan()!;
      const result = world.model.step(plan);
      if (step < at) world.scheduler.postprocess(result);
      else {
        const { faulted, sampled } = world.scheduler.postprocess(
          withFaults(result, [faultOf(plan.rows[0]!)]),
        );
        expect(faulted).toMatchObject([{ id: asked.id, fault: { kind: 'notFinite' } }]);
        expect(sampled).toEqual([]);
        return;
      }
    }
  }

  test.each([
    ['in its first chunk', 0],
    ['in a later one', 1],
    ['with the prompt’s last token', 2],
  ])('%s ends a hybrid’s sequence, and none of its blocks or states is reused', (_, at) => {
    const world = new World({}, hybrid);
    const prompt = text('a', 300);
    faultAt(world, asking(prompt, { boundaries: [130] }), at);
    expect(world.scheduler.stats).toMatchObject({
      running: 0,
      blocksUsed: 0,
      blocksCached: 0,
      snapshotsKept: 0,
    });
    expect(world.ask(asking(prompt))).toBe(0);
  });

  test('leaves what others hold and what they had cached before', () => {
    const world = new World({}, hybrid);
    const system = text('system', 128);
    const running = asking([...system, ...text('x', 40)], { maxTokens: 60, boundaries: [128] });
    world.scheduler.add(running);
    world.step();
    world.step();
    const { plan } = (world.scheduler.add(asking([...system, 5, 6, 7])), world.scheduler.plan()!);
    const faulty = plan.admit[0]!;
    expect(faulty.cachedTokens).toBe(128);
    const { faulted } = world.scheduler.postprocess({
      ...world.model.step(plan),
      faults: [faultOf(faulty.slot)],
    });
    expect(faulted).toHaveLength(1);
    expect(drain(world).tokens.get(running.id)?.length).toBeGreaterThan(50);
    expect(world.ask(asking([...system, 9]))).toBe(128);
  });
});
