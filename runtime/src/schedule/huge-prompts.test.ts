// Prompts that take most of the KV cache, or many steps: they hold up nobody, and nobody holds them up for ever.

import { describe, expect, test } from '@jest/globals';
import { Scheduler, type SchedulerLimits } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { limits, request } from './workload.fixture.js';

/** 64 blocks of 16 tokens: a huge prompt needs 31 of them. */
const roomy: SchedulerLimits = { ...limits, maxNumSeqs: 8 };
const hugeTokens = 490;

/** An engine that runs: what each step began, and what ended, by the step's number. */
class Engine {
  readonly began = new Map<string, number>();
  readonly ended = new Map<string, number>();
  readonly scheduler: Scheduler;
  readonly #model: StepModel;
  #step = 0;

  constructor(of: SchedulerLimits) {
    this.scheduler = new Scheduler(of);
    this.#model = new StepModel(of);
  }

  get steps(): number {
    return this.#step;
  }

  /** Rows of the step, by slot. */
  step(): Map<number, number> {
    const planned = this.scheduler.plan();
    if (planned === null) throw new Error('there is nothing to compute');
    this.#step += 1;
    for (const { id } of planned.started) this.began.set(id, this.#step);
    for (const { id, finish } of this.scheduler.postprocess(this.#model.step(planned.plan)).sampled)
      if (finish !== null) this.ended.set(id, this.#step);
    const { rows } = planned.plan;
    return new Map(Array.from({ length: rows.length / 2 }, (_, i) => [rows[2 * i]!, rows[2 * i + 1]!]));
  }
}

describe('a prompt that finds no room in the KV cache', () => {
  test('lets smaller ones by, and begins when those before it have ended', () => {
    const engine = new Engine(roomy);
    const { scheduler } = engine;
    for (const id of ['before', 'before too']) scheduler.add(request(id, hugeTokens, 20));
    scheduler.add(request('huge', hugeTokens, 20));
    for (let i = 0; i < 20; i++) scheduler.add(request(`small ${i}`, 20, 5));
    while (engine.ended.size < 23) engine.step();
    expect(engine.began.get('huge')).toBe(
      Math.min(...['before', 'before too'].map((id) => engine.ended.get(id)!)) + 1,
    );
    const smallEnds = Array.from({ length: 20 }, (_, i) => engine.ended.get(`small ${i}`)!);
    expect(Math.min(...smallEnds)).toBeLessThan(engine.began.get('huge')!);
  });

  test('begins in the end, however many smaller ones come and come', () => {
    const engine = new Engine(roomy);
    const { scheduler } = engine;
    for (const id of ['before', 'before too']) scheduler.add(request(id, hugeTokens, 10));
    scheduler.add(request('huge', hugeTokens, 10));
    let sent = 0;
    while (!engine.ended.has('huge')) {
      while (scheduler.stats.waiting < 10) scheduler.add(request(`small ${(sent += 1)}`, 40, 30));
      engine.step();
      if (engine.steps > 500) throw new Error('it is starved');
    }
    expect(Math.max(...['before', 'before too'].map((id) => engine.ended.get(id)!))).toBeGreaterThanOrEqual(
      engine.began.get('huge')! - 1,
    );
  });

  test('does so behind others like it, of one client that floods with them', () => {
    // Where prompts begin alike, the second of them finds room sooner.
    const engine = new Engine({ ...roomy, prefixCaching: false });
    const { scheduler } = engine;
    for (let i = 0; i < 30; i++)
      scheduler.add({ ...request(`huge ${i}`, hugeTokens, 20), fairnessKey: 'flood' });
    engine.step();
    scheduler.add({ ...request('small', 20, 5), fairnessKey: 'quiet' });
    const since = engine.steps;
    while (!engine.ended.has('small')) engine.step();
    expect(engine.began.get('small')! - since).toBe(1);
    while (engine.ended.size < 31) engine.step();
    const begun = Array.from({ length: 30 }, (_, i) => engine.began.get(`huge ${i}`)!);
    expect(begun).toEqual(begun.toSorted((a, b) => a - b));
  });

  // No plan whose maxConcurrencyAtMaxLen is 2 has such prompts.
  test('of the whole cache, holds up others until it has ended, and none is held up by a flood of them', () => {
    const engine = new Engine({ ...roomy, maxModelLen: 1024, prefixCaching: false });
    const { scheduler } = engine;
    scheduler.add(request('before', 20, 10));
    engine.step();
    for (const id of ['whole', 'whole too', 'whole again'])
      scheduler.add({ ...request(id, 1000, 20), fairnessKey: 'flood' });
    engine.step();
    for (let i = 0; i < 5; i++) scheduler.add({ ...request(`small ${i}`, 20, 5), fairnessKey: 'quiet' });
    while (engine.ended.size < 9) engine.step();
    const smallEnds = Array.from({ length: 5 }, (_, i) => engine.ended.get(`small ${i}`)!);
    expect(engine.began.get('whole')).toBe(engine.ended.get('before')! + 1);
    expect(Math.min(...smallEnds)).toBeGreaterThan(engine.ended.get('whole')!);
    expect(Math.max(...smallEnds)).toBeLessThan(engine.began.get('whole too')!);
  });

  test('leaves when it is cancelled or has waited too long, and holds up nobody any more', () => {
    const engine = new Engine(roomy);
    const { scheduler } = engine;
    for (const id of ['before', 'before too']) scheduler.add(request(id, hugeTokens, 20));
    engine.step();
    scheduler.add({ ...request('cancelled', hugeTokens, 20), fairnessKey: 'a' });
    scheduler.add({ ...request('late', hugeTokens, 20), fairnessKey: 'b' }, 5);
    engine.step();
    expect(scheduler.stats.waiting).toBe(2);
    expect(scheduler.expire(4)).toEqual([]);
    expect([scheduler.cancel('cancelled'), scheduler.expire(5)]).toEqual([true, ['late']]);
    expect(scheduler.stats.waiting).toBe(0);
    while (engine.ended.size < 2) engine.step();
    expect([...engine.began.keys()]).toEqual(['before', 'before too']);
  });
});

describe('a prompt of many steps', () => {
  test('leaves half of the rows to shorter ones, and uses what they leave', () => {
    const engine = new Engine({ ...roomy, numBlocks: 200, maxNumSeqs: 4 });
    const { scheduler } = engine;
    scheduler.add(request('huge', hugeTokens, 1));
    expect([...engine.step().values()]).toEqual([128]);
    scheduler.add(request('small', 30, 1));
    // 64 and what the small one leaves of the other 64, in whole chunks.
    expect([...engine.step().values()]).toEqual([30, 64]);
    for (const id of ['a', 'b', 'c']) scheduler.add(request(id, 60, 1));
    expect([...engine.step().values()]).toEqual([60, 64]);
    expect([...engine.step().values()]).toEqual([60, 64]);
    expect(engine.ended.has('small') && engine.ended.has('a') && engine.ended.has('b')).toBe(true);
    expect(engine.ended.has('huge')).toBe(false);
  });

  test('ends, however many shorter ones come', () => {
    const engine = new Engine({ ...roomy, numBlocks: 200 });
    engine.scheduler.add(request('huge', hugeTokens, 1));
    let sent = 0;
    while (!engine.ended.has('huge')) {
      while (engine.scheduler.stats.waiting < 5) engine.scheduler.add(request(`small ${(sent += 1)}`, 60, 1));
      engine.step();
    }
    expect(engine.steps).toBeLessThanOrEqual(Math.ceil(hugeTokens / 64));
    expect(sent).toBeGreaterThan(5);
  });
});
