import { describe, expect, test } from '@jest/globals';
import { Scheduler, type SchedulerLimits } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { expectedTokens } from './token-hashes.fixture.js';
import { drain, limits, randomFrom, request } from './workload.fixture.js';

describe('Scheduler', () => {
  test('prefills in chunks that end on multiples of 64, alongside decodes', () => {
    const scheduler = new Scheduler(limits);
    const model = new StepModel(limits);
    scheduler.add(request('short', 10, 20));
    scheduler.postprocess(model.step(scheduler.plan()!.plan));
    scheduler.add(request('long', 300, 5));
    const rows = [1, 2, 3, 4, 5].map(() => {
      const { plan } = scheduler.plan()!;
      scheduler.postprocess(model.step(plan));
      return [...plan.rows];
    });
    // Slot 0 decodes one row per step; slot 1 gets 64 of the 127 rows left, and at last its 44.
    expect(rows).toEqual([
      [0, 1, 1, 64],
      [0, 1, 1, 64],
      [0, 1, 1, 64],
      [0, 1, 1, 108],
      [0, 1, 1, 1],
    ]);
  });

  test.each([63, 64, 65, 129])('a prompt of %d tokens gives what the model gives', (length) => {
    const scheduler = new Scheduler(limits);
    const one = request('one', length, 8);
    scheduler.add(one);
    const { tokens, finished } = drain(scheduler, new StepModel(limits));
    expect(tokens.get('one')).toEqual(expectedTokens([...one.prompt], 8, []));
    expect(finished.get('one')).toBe('length');
  });

  test('ends at a stop token, at maxTokens, and at the end of the context', () => {
    const scheduler = new Scheduler(limits);
    const [, , third] = expectedTokens([...request('stop', 5, 3).prompt], 3, []);
    scheduler.add(request('stop', 5, 100, [third!]));
    scheduler.add(request('length', 5, 4));
    scheduler.add(request('context', 500, 1000));
    const { tokens, finished } = drain(scheduler, new StepModel(limits));
    expect(Object.fromEntries(finished)).toEqual({ stop: 'stop', length: 'length', context: 'length' });
    expect(tokens.get('stop')).toHaveLength(3);
    expect(tokens.get('length')).toHaveLength(4);
    expect(tokens.get('context')).toHaveLength(12);
  });

  test('serves in order of arrival and says which requests left the queue', () => {
    const scheduler = new Scheduler({ ...limits, maxNumSeqs: 2 });
    for (const id of ['a', 'b', 'c']) scheduler.add(request(id, 4, 2));
    expect(scheduler.plan()!.started).toEqual(['a', 'b'].map((id) => ({ id, cachedTokens: 0 })));
    expect(scheduler.stats).toMatchObject({ running: 2, waiting: 1 });
  });

  test('preempts the youngest when blocks run out, and gives it the same tokens in the end', () => {
    const tight = { ...limits, numBlocks: 10 };
    const scheduler = new Scheduler(tight);
    const requests = [request('old', 60, 80), request('young', 60, 80)];
    for (const each of requests) scheduler.add(each);
    const { tokens } = drain(scheduler, new StepModel(tight));
    for (const each of requests) {
      expect(tokens.get(each.id)).toEqual(expectedTokens([...each.prompt], 80, []));
    }
    expect(scheduler.stats.preemptionsTotal).toBeGreaterThan(0);
    expect(scheduler.stats.generationTokensTotal).toBe(160);
  });

  test('a cancelled request leaves nothing behind, waiting or running, before or after its step', () => {
    const scheduler = new Scheduler({ ...limits, maxNumSeqs: 1 });
    const model = new StepModel({ ...limits, maxNumSeqs: 1 });
    scheduler.add(request('running', 200, 50));
    scheduler.add(request('waiting', 20, 50));
    const { plan } = scheduler.plan()!;
    expect(scheduler.cancel('waiting')).toBe(true);
    expect(scheduler.cancel('running')).toBe(true);
    expect(scheduler.cancel('running')).toBe(false);
    expect(scheduler.postprocess(model.step(plan)).sampled).toEqual([]);
    expect(scheduler.stats).toMatchObject({ running: 0, waiting: 0, blocksUsed: 0 });
    expect(scheduler.plan()).toBeNull();
    scheduler.add(request('next', 20, 3));
    expect(drain(scheduler, model).tokens.get('next')).toHaveLength(3);
  });

  test.each([
    ['an empty prompt', request('x', 0, 1), 'no tokens'],
    ['a prompt that fills the context', request('x', 512, 1), '512 tokens'],
    ['more than all blocks', request('x', 100, 400), 'KV blocks'],
  ])('refuses %s', (_, refused, message) => {
    expect(() => new Scheduler({ ...limits, numBlocks: 16 }).add(refused)).toThrow(message);
  });
});

describe('Scheduler under random workloads', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'seed %d: every plan keeps the rules, nothing leaks, tokens do not depend on the batch',
    (seed) => {
      const random = randomFrom(seed);
      const maxNumSeqs = 1 + random(8);
      const room: SchedulerLimits = {
        ...limits,
        blockSize: [16, 32, 64, 128][random(4)]!,
        numBlocks: 0,
        maxNumSeqs,
        maxNumBatchedTokens: maxNumSeqs + 64 + random(200),
        maxModelLen: 300,
      };
      const small = { ...room, numBlocks: Math.ceil(300 / room.blockSize) + random(6) };
      const scheduler = new Scheduler(small);
      const model = new StepModel(small);
      const requests = Array.from({ length: 25 }, (_, i) =>
        request(`r${seed}-${i}`, 1 + random(250), 1 + random(60), [random(1000), random(1000)]),
      );
      const cancelled = new Set<string>();
      let next = 0;
      const { tokens } = drain(scheduler, model, () => {
        for (let n = random(3); n > 0 && next < requests.length; n--) scheduler.add(requests[next++]!);
        const victim = random(12) === 0 ? requests[random(requests.length)]! : null;
        if (victim !== null && scheduler.cancel(victim.id)) cancelled.add(victim.id);
        return next < requests.length;
      });
      for (const { id, prompt, maxTokens, stopTokens } of requests) {
        const most = Math.min(maxTokens, small.maxModelLen - prompt.length);
        const expected = expectedTokens([...prompt], most, [...stopTokens]);
        const got = tokens.get(id) ?? [];
        expect(got).toEqual(cancelled.has(id) ? expected.slice(0, got.length) : expected);
      }
      expect(scheduler.stats).toMatchObject({ running: 0, waiting: 0, blocksUsed: 0 });
    },
  );
});
