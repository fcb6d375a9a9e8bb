// Keys under overload, on the real scheduler: however many requests a key sends, and however urgent, another's are
// served in time, and long-run shares are those of the weights.

import { describe, expect, test } from '@jest/globals';
import type { GenerateRequest } from './generation.js';
import { Scheduler } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { limits, request } from './workload.fixture.js';

const promptTokens = 12;

/** A client that always has so many requests waiting or running. */
interface Client {
  readonly key: string;
  readonly backlog: number;
  readonly priority?: number;
  readonly weight?: number;
  readonly maxTokens?: number;
}

/** Tokens of prompts and answers for each key, and the most steps that it went without a finished request. */
function overload(clients: readonly Client[], steps: number) {
  const scheduler = new Scheduler(limits);
  const model = new StepModel(limits);
  const tokens = new Map<string, number>();
  const waited = new Map<string, number>();
  const lastEnd = new Map<string, number>();
  const owners = new Map<string, string>();
  let sent = 0;
  const send = ({ key, priority = 0, weight = 1, maxTokens = 20 }: Client): void => {
    sent += 1;
    const shared: Partial<GenerateRequest> = { fairnessKey: key, priority: priority - Math.log2(weight) };
    const id = `${key}-${String(sent)}`;
    owners.set(id, key);
    scheduler.add({ ...request(id, promptTokens, maxTokens), ...shared });
  };
  for (const client of clients) for (let i = 0; i < client.backlog; i++) send(client);
  for (let step = 0; step < steps; step++) {
    const planned = scheduler.plan();
    if (planned === null) throw new Error('an overloaded scheduler has nothing to do');
    for (const { id, finish } of scheduler.postprocess(model.step(planned.plan)).sampled) {
      const key = owners.get(id)!;
      tokens.set(key, (tokens.get(key) ?? 0) + 1);
      if (finish === null) continue;
      tokens.set(key, (tokens.get(key) ?? 0) + promptTokens);
      waited.set(key, Math.max(waited.get(key) ?? 0, step - (lastEnd.get(key) ?? 0)));
      lastEnd.set(key, step);
      send(clients.find((client) => client.key === key)!);
    }
  }
  const share = (key: string): number =>
    (tokens.get(key) ?? 0) / [...tokens.values()].reduce((a, b) => a + b, 0);
  return {
    share,
    waited: (key: string) => Math.max(waited.get(key) ?? steps, steps - (lastEnd.get(key) ?? 0)),
  };
}

describe('under overload', () => {
  test('a key with one request at a time is served alongside one with hundreds', () => {
    const { share, waited } = overload(
      [
        { key: 'flood', backlog: 300 },
        { key: 'single', backlog: 1 },
      ],
      3_000,
    );
    // One of four slots is the most that a request at a time can have.
    expect(share('single')).toBeGreaterThan(0.15);
    expect(waited('single')).toBeLessThan(60);
  });

  test('keys with much to do share evenly, by tokens', () => {
    const clients = ['a', 'b', 'c'].map((key, i) => ({
      key,
      backlog: 50 + 100 * i,
      maxTokens: 10 * (i + 1),
    }));
    const { share } = overload(clients, 4_000);
    for (const { key } of clients) expect(share(key)).toBeCloseTo(1 / 3, 1);
  });

  test('a key of weight 3 has three times the share of one of weight 1', () => {
    const { share } = overload(
      [
        { key: 'heavy', backlog: 60, weight: 3 },
        { key: 'light', backlog: 60 },
      ],
      4_000,
    );
    expect(share('heavy')).toBeCloseTo(0.75, 1);
  });

  test('the least urgent key is served too, with the most urgent flood that priorities allow', () => {
    const { share, waited } = overload(
      [
        { key: 'urgent', backlog: 200, priority: -2 },
        { key: 'late', backlog: 20, priority: 2 },
      ],
      6_000,
    );
    // 2 ** 4 times less.
    expect(share('late')).toBeGreaterThan(1 / 30);
    expect(waited('late')).toBeLessThan(1_000);
  });
});
