// What the step loop asks of the engine while a step runs.

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Engine } from '@llmservice/native';
import type { OfferedKv } from '../schedule/generation.js';
import { Scheduler } from '../schedule/scheduler.js';
import { expectedTokens } from '../schedule/token-hashes.fixture.js';
import { limits, request } from '../schedule/workload.fixture.js';
import type { EngineMessage, EngineStats, SequenceUpdate } from './protocol.js';
import { StepLoop } from './step-loop.js';
import { WaitingEngine } from './waiting-engine.fixture.js';

const turn = () => new Promise(setImmediate);

describe('StepLoop', () => {
  let engine: WaitingEngine;
  let scheduler: Scheduler;
  let loop: StepLoop;
  let ended: Promise<void>;
  let sent: Map<string, number[]>;
  let preemptions: Map<string, number>;
  let failures: Map<string, string>;
  let stats: EngineStats | null;
  let now: number;

  function begin(changes: Partial<typeof limits> = {}): void {
    const room = { ...limits, ...changes };
    engine = new WaitingEngine(room);
    scheduler = new Scheduler(room);
    sent = new Map();
    preemptions = new Map();
    failures = new Map();
    stats = null;
    now = 0;
    const hear = (message: EngineMessage): void => {
      if (message.type !== 'step') return;
      ({ stats } = message);
      for (const update of message.updates) {
        const { id, tokens, failure } = update;
        if (failure !== null) failures.set(id, failure.reason);
        sent.set(id, [...(sent.get(id) ?? []), ...tokens]);
        if (update.preemptions > 0) preemptions.set(id, (preemptions.get(id) ?? 0) + update.preemptions);
      }
    };
    loop = new StepLoop(engine as unknown as Engine, scheduler, hear, () => now);
    ended = loop.run();
  }

  beforeEach(() => begin());

  test('has the next step wait behind the one that runs, to the known end and not beyond', async () => {
    const asked = request('one', 3, 3);
    loop.submit(asked, null);
    await turn();
    expect(engine.rows).toEqual([
      [0, 3],
      [0, 1],
    ]);
    await engine.end();
    expect(engine.rows).toEqual([
      [0, 1],
      [0, 1],
    ]);
    await engine.end();
    expect(engine.rows).toEqual([[0, 1]]);
    await engine.end();
    expect(engine.rows).toEqual([]);
    expect(sent.get('one')).toEqual(expectedTokens([...asked.prompt], 3, []));
  });

  test('reports a preemption to those that lost their blocks', async () => {
    begin({ numBlocks: 10 });
    const requests = [request('old', 60, 80), request('young', 60, 80)];
    for (const each of requests) loop.submit(each, null);
    await turn();
    while (engine.rows.length > 0) await engine.end();
    for (const each of requests) expect(sent.get(each.id)).toEqual(expectedTokens([...each.prompt], 80, []));
    expect(stats!.preemptionsTotal).toBeGreaterThan(0);
    expect([...preemptions]).toEqual([['young', stats!.preemptionsTotal]]);
  });

  test('takes the step that waits back when a request comes, which begins with the next one', async () => {
    const [first, second] = [request('first', 3, 5), request('second', 4, 5)];
    loop.submit(first, null);
    await turn();
    loop.submit(second, null);
    expect(engine.rows).toEqual([[0, 3]]);
    await engine.end();
    expect(engine.rows).toEqual([
      [0, 1, 1, 4],
      [0, 1, 1, 1],
    ]);
    while (engine.rows.length > 0) await engine.end();
    for (const { id, prompt } of [first, second])
      expect(sent.get(id)).toEqual(expectedTokens([...prompt], 5, []));
  });

  test('continues where a sequence ended though the step behind has a row of it', async () => {
    const asked = request('stops', 5, 100);
    const [, , third] = expectedTokens([...asked.prompt], 3, []);
    loop.submit({ ...asked, stopTokens: Int32Array.of(third!) }, null);
    await turn();
    while (engine.rows.length > 0) await engine.end();
    expect(sent.get('stops')).toHaveLength(2);
    // The step behind had no row left, and is none.
    expect(stats).toMatchObject({ stepsTotal: 3 });
    loop.submit(request('next', 5, 1), null);
    await turn();
    while (engine.rows.length > 0) await engine.end();
    expect(sent.get('next')).toHaveLength(1);
    expect(scheduler.stats).toMatchObject({ running: 0, blocksUsed: 0 });
  });

  test('reports the log probability of a stop token separately from those of the tokens', async () => {
    const updates: SequenceUpdate[] = [];
    const asked = request('stops', 5, 100);
    const [, second] = expectedTokens([...asked.prompt], 2, []);
    const hear = (message: EngineMessage): void => {
      if (message.type === 'step') updates.push(...message.updates);
    };
    loop = new StepLoop(engine as unknown as Engine, scheduler, hear, () => 0);
    void loop.run();
    loop.submit({ ...asked, stopTokens: Int32Array.of(second!) }, null);
    await turn();
    await engine.end({ logprobs: Float32Array.of(-1) });
    await engine.end({ logprobs: Float32Array.of(-2) });
    expect(updates).toMatchObject([
      { logprobs: [{ logprob: -1 }], stopLogprobs: null },
      { tokens: [], logprobs: null, stopToken: second, stopLogprobs: { logprob: -2 } },
    ]);
  });

  test('sends nothing more for what was cancelled while two steps were in flight', async () => {
    loop.submit(request('one', 3, 50), null);
    await turn();
    loop.cancel('one');
    await engine.end();
    await engine.end();
    expect(engine.rows).toEqual([]);
    // Its start and no token.
    expect(sent.get('one')).toEqual([]);
    expect(scheduler.stats).toMatchObject({ running: 0, blocksUsed: 0 });
  });

  test('computes no more of a prompt that nobody waits for', async () => {
    loop.submit(request('long', 500, 1), null);
    await turn();
    expect(engine.rows).toEqual([
      [0, 128],
      [0, 128],
    ]);
    loop.cancel('long');
    expect(engine.rows).toEqual([[0, 128]]);
    await engine.end();
    expect(engine.rows).toEqual([]);
    expect(scheduler.stats).toMatchObject({ running: 0, blocksUsed: 0 });
  });

  test('lets the step behind run where it has begun, and a request that came begins after it', async () => {
    loop.submit(request('first', 3, 5), null);
    await turn();
    engine.hasBegun = true;
    loop.submit(request('second', 4, 5), null);
    loop.flushCache();
    expect(engine.rows).toHaveLength(2);
    await engine.end();
    engine.hasBegun = false;
    expect(engine.rows).toEqual([[0, 1]]);
    await engine.end();
    expect(engine.rows[0]).toEqual([0, 1, 1, 4]);
    while (engine.rows.length > 0) await engine.end();
    expect(sent.get('second')).toHaveLength(5);
  });

  test('empties the cache only between steps', async () => {
    loop.submit(request('one', 40, 50), null);
    await turn();
    await engine.end();
    loop.flushCache();
    expect(engine.rows).toHaveLength(1);
    await engine.end();
    expect(engine.rows).toHaveLength(2);
    loop.cancel('one');
    await engine.end();
    await engine.end();
    expect(scheduler.stats.blocksCached).toBe(0);
  });

  test('has the end of a prompt for another engine wait until that can read it', async () => {
    const updates: SequenceUpdate[] = [];
    const hear = (message: EngineMessage): void => {
      if (message.type === 'step') updates.push(...message.updates);
    };
    const offering = new Map<string, (offered: OfferedKv | Error) => void>();
    const open = (id: string): Promise<OfferedKv> | null =>
      id === 'plain'
        ? null
        : new Promise((resolve, reject) =>
            offering.set(id, (offered) => (offered instanceof Error ? reject(offered) : resolve(offered))),
          );
    loop = new StepLoop(engine as unknown as Engine, scheduler, hear, () => 0, undefined, { open });
    void loop.run();
    for (const id of ['plain', 'offered', 'refused']) loop.submit(request(id, 20, 1), null);
    await turn();
    while (engine.rows.length > 0) await engine.end();
    expect(updates.map(({ id }) => id)).toEqual(['plain']);
    const offered = { blocks: 1, snapshot: false, tokens: 16 };
    offering.get('offered')!(offered);
    offering.get('refused')!(new Error('no'));
    await turn();
    expect(updates.slice(1)).toMatchObject([
      { id: 'offered', finish: 'length', offered },
      { id: 'refused', finish: null, failure: { reason: 'EngineFault', message: 'no' } },
    ]);
  });

  test('settles once the steps have run that there were', async () => {
    let settled = false;
    loop.submit(request('one', 3, 9), null);
    await turn();
    void loop.settled().then(() => (settled = true));
    await engine.end();
    expect(settled).toBe(false);
    await engine.end();
    expect(settled).toBe(true);
  });

  test('stops after the step that runs', async () => {
    loop.submit(request('one', 3, 50), null);
    await turn();
    loop.stop();
    expect(engine.rows).toHaveLength(1);
    await engine.end();
    await ended;
    expect(engine.rows).toEqual([]);
  });

  test('fails once when the engine is lost with two steps in flight', async () => {
    loop.submit(request('one', 3, 50), null);
    await turn();
    expect(engine.rows).toHaveLength(2);
    const outcome = expect(ended).rejects.toThrow('lost');
    await engine.fail();
    await outcome;
  });

  test('ends a request that waits too long for a slot while one step follows the other', async () => {
    begin({ maxNumSeqs: 1 });
    loop.submit(request('runs', 3, 50), null);
    loop.submit({ ...request('waits', 3, 50), maxQueueMs: 10 }, null);
    await turn();
    for (let steps = 0; steps < 4; steps++) await engine.end();
    expect(engine.rows).toHaveLength(2);
    expect(failures).toEqual(new Map());
    now = 11;
    for (let steps = 0; steps < 2; steps++) await engine.end();
    expect(failures).toEqual(new Map([['waits', 'QueueTimeout']]));
    loop.stop();
    while (engine.rows.length > 0) await engine.end();
  });

  test('has the next step wait where drafts may give any number of tokens, too', async () => {
    begin({ speculative: { method: 'ngram', tokens: 2 } });
    const [asked, cancelled] = [request('one', 3, 50), request('two', 4, 50)];
    for (const each of [asked, cancelled]) loop.submit(each, null);
    await turn();
    for (let steps = 0; engine.rows.length > 0; steps++) {
      // But for the last ones, in which it may end.
      if (steps < 10) expect(engine.rows).toHaveLength(2);
      // The rows of its decode are not worth that the others wait for a plan.
      if (steps === 5) loop.cancel('two');
      await engine.end();
    }
    expect(sent.get('one')).toEqual(expectedTokens([...asked.prompt], 50, []));
  });
});
