// Budgets with clocks that step: by seconds, days and a year, forwards, backwards, and back again.

import { describe, expect, test } from '@jest/globals';
import type { ConfiguredKey } from '../read-key-file.js';
import { configuredKey } from './configured-key.fixture.js';
import { KeyBudget } from './key-budget.js';
import { MomentClock } from './moment.js';

const noon = Date.parse('2026-01-31T12:00:00Z');
const seconds = 1_000;
const hours = 3_600 * seconds;
const days = 24 * hours;

class Refused extends Error {}

class World {
  #steady = 5_000;
  #unix = noon;
  readonly #clock = new MomentClock(
    () => this.#unix,
    () => this.#steady,
  );
  readonly #budget: KeyBudget;

  constructor(limits: Partial<ConfiguredKey>) {
    this.#budget = new KeyBudget(configuredKey('a', limits), 1, this.#clock.now(), () => new Refused());
  }

  pass(ms: number): void {
    this.#steady += ms;
    this.#unix += ms;
  }

  step(ms: number): void {
    this.#unix += ms;
  }

  /** Takes what it gets, one token at a time; how many. */
  drain(): number {
    for (let taken = 0; ; taken++) {
      const now = this.#clock.now();
      try {
        this.#budget.require(1, now);
      } catch (error) {
        if (error instanceof Refused) return taken;
        throw error;
      }
      this.#budget.spend(1, now);
    }
  }
}

const steps = [
  -400 * days,
  -3 * days,
  -1 * days,
  -1 * hours,
  -1 * seconds,
  seconds,
  hours,
  days,
  3 * days,
  365 * days,
];

describe('a step of the clock', () => {
  test.each(steps)('of %d ms gives no tokens of a minute, and takes none', (step) => {
    const world = new World({ tokensPerMinute: 60 });
    expect(world.drain()).toBe(60);
    world.step(step);
    expect(world.drain()).toBe(0);
    world.pass(10 * seconds);
    expect(world.drain()).toBe(10);
    world.step(-step);
    expect(world.drain()).toBe(0);
    world.pass(60 * seconds);
    expect(world.drain()).toBe(60);
  });

  test.each(steps)(
    'of %d ms and back gives no second budget of a day, and the next day has its own',
    (step) => {
      const world = new World({ tokensPerDay: 100 });
      expect(world.drain()).toBe(100);
      for (let i = 0; i < 5; i++) {
        world.step(step);
        expect(world.drain()).toBe(0);
        world.pass(60 * seconds);
        expect(world.drain()).toBe(0);
        world.step(-step);
        expect(world.drain()).toBe(0);
      }
      world.pass(11 * hours);
      expect(world.drain()).toBe(0);
      world.pass(hours);
      expect(world.drain()).toBe(100);
    },
  );

  test.each(steps)('of %d ms that stays is believed after an hour, and locks nobody out', (step) => {
    const world = new World({ tokensPerDay: 100 });
    world.drain();
    world.step(step);
    let taken = 0;
    for (let hour = 0; hour < 5 * 24; hour++) {
      world.pass(hours);
      taken += world.drain();
    }
    // Five days have five midnights; a step over one more may bring that one's budget.
    expect(taken).toBeGreaterThanOrEqual(400);
    expect(taken).toBeLessThanOrEqual(600);
  });

  test('of a clock that was a year ahead at the start is put right, and gives one budget a day from then on', () => {
    const world = new World({ tokensPerDay: 100 });
    world.step(-365 * days);
    expect(world.drain()).toBe(100);
    for (let day = 0; day < 3; day++) {
      let taken = 0;
      for (let hour = 0; hour < 24; hour++) {
        world.pass(hours);
        taken += world.drain();
      }
      expect(taken).toBe(100);
    }
  });

  test('over midnight, as clocks are slewed, gives a day’s budget once', () => {
    const world = new World({ tokensPerDay: 100 });
    world.drain();
    world.pass(12 * hours - 1_000);
    let taken = 0;
    for (let i = 0; i < 10; i++) {
      world.step(1_500);
      taken += world.drain();
      world.step(-1_500);
      taken += world.drain();
    }
    expect(taken).toBe(100);
  });
});
