import { describe, expect, test } from '@jest/globals';
import type { ConfiguredKey } from '../read-key-file.js';
import { randomOf } from '../random-object.fixture.js';
import { configuredKey } from './configured-key.fixture.js';
import { KeyBudget, type Limit, type LimitRefusal } from './key-budget.js';
import { KeyBudgets } from './key-budgets.js';
import { momentOf } from './moment.fixture.js';
import type { Moment } from './moment.js';

const noon = Date.parse('2026-01-31T12:00:00Z');
const atNoon = momentOf(noon);
const seconds = 1_000;

class Refused extends Error {
  constructor(readonly refusal: LimitRefusal) {
    super(refusal.message);
  }
}

/** A budget with a clock of its own, that asks and spends as a request does. */
class World {
  now = noon;
  get moment(): Moment {
    return momentOf(this.now);
  }
  readonly refused: Limit[] = [];
  readonly budget: KeyBudget;

  constructor(limits: Partial<ConfiguredKey>, replicas = 1) {
    this.budget = new KeyBudget(configuredKey('a', limits), replicas, this.moment, (refusal) => {
      this.refused.push(refusal.limit);
      return new Refused(refusal);
    });
  }

  /** Null, or after how many seconds the client may come again. */
  ask(prompt: number): number | null {
    return retryAfter(() => {
      this.budget.require(prompt, this.moment);
      this.budget.spend(prompt, this.moment);
    });
  }
}

function retryAfter(act: () => void): number | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.refusal.retryAfterSeconds;
  }
}

describe('tokens per minute', () => {
  test('are there at once, then come evenly; whoever waits as long as Retry-After says is let in, and a second less is too soon', () => {
    const world = new World({ tokensPerMinute: 600 });
    expect([world.ask(400), world.ask(200)]).toEqual([null, null]);
    const waitSeconds = world.ask(100)!;
    expect(waitSeconds).toBe(10);
    world.now += (waitSeconds - 1) * seconds;
    expect(world.ask(100)).toBe(1);
    world.now += seconds;
    expect(world.ask(100)).toBeNull();
    expect(world.refused).toEqual(['tokensPerMinute', 'tokensPerMinute']);
  });

  test('that answers went over are paid before anything begins', () => {
    const world = new World({ tokensPerMinute: 600 });
    expect(world.ask(10)).toBeNull();
    world.budget.spend(1_190, world.moment);
    // 600 owed: a minute, and 0.1 s for the one token that is asked for.
    expect(world.ask(1)).toBe(61);
    world.now += 61 * seconds;
    expect(world.ask(1)).toBeNull();
  });

  test('let a prompt begin that is longer than a minute’s, once the bucket is full', () => {
    const world = new World({ tokensPerMinute: 60 });
    expect(world.ask(30)).toBeNull();
    expect(world.ask(1_000)).toBe(30);
    world.now += 30 * seconds;
    expect(world.ask(1_000)).toBeNull();
    expect(world.ask(1)).toBe(941);
  });

  test('over an hour of greed are those of an hour, and one minute’s more', () => {
    const world = new World({ tokensPerMinute: 600 });
    let used = 0;
    for (const end = world.now + 3_600 * seconds; world.now < end; world.now += 1_700) {
      while (world.ask(70) === null) used += 70;
    }
    expect(used).toBeLessThanOrEqual(61 * 600);
    expect(used).toBeGreaterThan(59 * 600);
  });

  test('are reported as a client paces itself by them', () => {
    const world = new World({ tokensPerMinute: 600 });
    world.ask(150);
    expect(world.budget.rateLimit(world.moment)).toEqual({ limit: 600, remaining: 450, resetSeconds: 15 });
    expect(new World({}).budget.rateLimit(atNoon)).toBeNull();
  });
});

describe('tokens per day', () => {
  test('are those of the day in UTC: Retry-After is the time to midnight, and true', () => {
    const world = new World({ tokensPerDay: 1_000 });
    expect([world.ask(900), world.ask(101)]).toEqual([null, 12 * 3_600]);
    expect(world.ask(100)).toBeNull();
    world.now += (12 * 3_600 - 1) * seconds;
    expect(world.ask(1)).toBe(1);
    world.now += seconds;
    expect(world.ask(1_000)).toBeNull();
    expect(world.refused).toEqual(['tokensPerDay', 'tokensPerDay']);
  });

  test('and per minute both hold: the longer wait is reported', () => {
    const world = new World({ tokensPerDay: 1_000, tokensPerMinute: 100 });
    expect([world.ask(100), world.ask(100)]).toEqual([null, 60]);
    world.budget.spend(900, world.moment);
    expect(world.ask(1)).toBe(12 * 3_600);
  });
});

describe('what was charged ahead and not taken', () => {
  test('is there again, and never more than the budget', () => {
    const world = new World({ tokensPerMinute: 600, tokensPerDay: 1_000 });
    expect([world.ask(600), world.ask(200)]).toEqual([null, 20]);
    world.budget.giveBack(200, atNoon, world.moment);
    expect(world.ask(200)).toBeNull();
    // A minute later the bucket is full of itself.
    world.now += 60 * seconds;
    world.budget.giveBack(600, atNoon, world.moment);
    expect(world.budget.rateLimit(world.moment)).toMatchObject({ remaining: 600 });
  });

  test('before midnight gives the next day no more than its own', () => {
    const world = new World({ tokensPerDay: 1_000 });
    expect(world.ask(900)).toBeNull();
    world.now += 12 * 3_600 * seconds;
    expect(world.ask(1_000)).toBeNull();
    world.budget.giveBack(900, atNoon, world.moment);
    expect(world.ask(1)).toBe(24 * 3_600);
  });
});

describe('concurrency', () => {
  test('is of requests, and their ends make room, each once', () => {
    const world = new World({ concurrency: 2 });
    const leaves = [world.budget.enter(), world.budget.enter()];
    const enter = () => retryAfter(() => world.budget.enter());
    expect(enter()).toBe(1);
    leaves[0]!();
    leaves[0]!();
    expect([enter(), enter()]).toEqual([null, 1]);
    expect(world.refused).toEqual(['concurrency', 'concurrency']);
  });
});

test('whoever waits as long as Retry-After says is let in, whatever was used before', () => {
  const from = randomOf(1);
  const random = (below: number): number => Math.floor(from() * below);
  for (let i = 0; i < 500; i++) {
    const limits = { tokensPerMinute: 1 + random(5_000), tokensPerDay: 1 + random(1_000_000) };
    const world = new World(limits, 1 + random(7));
    for (let j = 0; j < 10; j++) {
      world.now += random(90_000);
      world.budget.spend(random(3_000), world.moment);
      const prompt = 1 + random(3_000);
      const waitSeconds = retryAfter(() => world.budget.require(prompt, world.moment));
      if (waitSeconds === null) continue;
      world.now += waitSeconds * seconds;
      expect(world.ask(prompt)).toBeNull();
    }
  }
});

test.each([
  [1, 600, 10],
  [3, 200, 3],
  [1000, 1, 1],
])('among %i replicas each gives its part', (replicas, tokens, running) => {
  const world = new World({ tokensPerMinute: 600, tokensPerDay: 600, concurrency: 10 }, replicas);
  const leaves = Array.from({ length: 20 }, () => retryAfter(() => world.budget.enter()));
  expect(leaves.filter((each) => each === null)).toHaveLength(running);
  expect([world.ask(tokens), world.ask(1)]).toEqual([null, expect.any(Number)]);
});

describe('budgets', () => {
  const limited = (tokensPerMinute: number) => configuredKey('a', { tokensPerMinute });

  test('keep what was used when a key’s limits change', () => {
    const budgets = new KeyBudgets(1, (_, refusal) => new Refused(refusal));
    budgets.of(limited(600), atNoon).spend(500, atNoon);
    expect(budgets.of(limited(1_000), atNoon).rateLimit(atNoon)).toMatchObject({
      limit: 1_000,
      remaining: 500,
    });
    expect(budgets.of(limited(100), atNoon).rateLimit(atNoon)).toMatchObject({
      limit: 100,
      remaining: 0,
    });
    expect(budgets.of(configuredKey('a'), atNoon).rateLimit(atNoon)).toBeNull();
    expect(budgets.of(configuredKey('b', { tokensPerMinute: 5 }), atNoon).rateLimit(atNoon)).toMatchObject({
      remaining: 5,
    });
  });

  test('begin with this replica’s part of what the day had before it', () => {
    const budgets = new KeyBudgets(2, (_, refusal) => new Refused(refusal));
    budgets.restore(new Map([['a', 600]]), noon);
    const budget = budgets.of(configuredKey('a', { tokensPerDay: 1_000 }), atNoon);
    expect(retryAfter(() => budget.require(201, atNoon))).toBe(12 * 3_600);
    expect(retryAfter(() => budget.require(200, atNoon))).toBeNull();
  });

  test('that were read on the day before are not spent today, and count where the limit comes later', () => {
    const budgets = new KeyBudgets(1, (_, refusal) => new Refused(refusal));
    const spent = new Map([
      ['a', 1_000],
      ['b', 1_000],
    ]);
    budgets.restore(spent, noon);
    const limits = { tokensPerDay: 1_000 };
    budgets.of(configuredKey('a'), atNoon);
    expect(retryAfter(() => budgets.of(configuredKey('a', limits), atNoon).require(1, atNoon))).toBe(
      12 * 3_600,
    );
    const tomorrow = momentOf(noon + 13 * 3_600 * seconds);
    expect(
      retryAfter(() => budgets.of(configuredKey('b', limits), tomorrow).require(1, tomorrow)),
    ).toBeNull();
  });
});
