import { describe, expect, test } from '@jest/globals';
import { decideReplicas, replicasFor, type Load, type ScalingMemory } from './scaling-decision.js';

const load = (values: number[], unseen = 0, starting = 0): Load => ({ values, unseen, starting });
const pods = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe('the load alone', () => {
  test.each<[string, Load, number, number, number]>([
    // The published example: 200m against a target of 100m doubles, 50m halves.
    ['twice the target doubles the pods', load(pods(3, 200)), 100, 3, 6],
    ['half the target halves them', load(pods(4, 50)), 100, 4, 2],
    ['is rounded up', load(pods(3, 50)), 100, 3, 2],
    ['within a tenth changes nothing, above', load(pods(10, 110)), 100, 10, 10],
    ['nor below', load(pods(10, 90)), 100, 10, 10],
    ['just beyond a tenth does', load(pods(10, 112)), 100, 10, 12],
    ['is the mean of the pods', load([300, 0]), 100, 2, 3],
    ['no load asks for none', load(pods(3, 0)), 100, 3, 0],
    ['no pod that answers says nothing', load([], 0, 2), 100, 2, 2],
    ['pods that start will take a part', load(pods(2, 200), 0, 2), 100, 4, 4],
    ['more than they can take asks for more', load(pods(2, 300), 0, 2), 100, 4, 6],
    ['pods that start do not keep others', load(pods(4, 25), 0, 1), 100, 5, 1],
    ['one that cannot be seen counts as idle where more are needed', load(pods(2, 300), 1), 100, 3, 6],
    ['and keeps all where fewer would do', load(pods(2, 0), 1), 100, 3, 3],
    ['all unseen says nothing', load([], 3), 100, 3, 3],
    ['sums of fractions are not rounded up', load([0.1 * 3, 0.1 * 3, 0.1 * 6]), 0.1, 3, 12],
  ])('%s', (_, seen, target, current, expected) => {
    expect(replicasFor(seen, target, current)).toBe(expected);
  });
});

describe('over time', () => {
  const rule = { target: 10, minReplicas: 1, maxReplicas: 8, stabilizationMs: 300_000 };
  /** Looks 10 s apart; what is decided is there, and answers, at the next one. */
  const run = (
    loads: readonly (number | Load)[],
    first: number,
    change: Partial<typeof rule> = {},
  ): number[] => {
    let memory: ScalingMemory | null = null;
    let current = first;
    return loads.map((each, turn) => {
      const seen = typeof each === 'number' ? load(pods(current, each / current)) : each;
      memory = decideReplicas(memory, seen, { ...rule, ...change }, current, turn * 10_000);
      current = memory.replicas;
      return current;
    });
  };
  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

  test('more pods come at once', () => {
    expect(run([10, 40, 40], 1)).toEqual([1, 4, 4]);
  });
  test('fewer only after the window, and as many as it needed', () => {
    const replicas = run([40, ...times(15, 5), 20, ...times(40, 5)], 1);
    expect(replicas.slice(0, 30)).toEqual(times(30, 4));
    expect(replicas.slice(30, 46)).toEqual(times(16, 2));
    expect(replicas.at(46)).toBe(1);
  });
  test('a restart begins the window anew', () => {
    expect(run(times(31, 0), 4)).toEqual([...times(30, 4), 1]);
  });
  test('without a window fewer come at once', () => {
    expect(run([5, 5], 4, { stabilizationMs: 0 })).toEqual([1, 1]);
  });
  test('bounds hold, whatever was set by hand', () => {
    expect(run([1000, 0], 1)).toEqual([8, 8]);
    expect(run([10], 12)).toEqual([8]);
    expect(run([0], 1, { minReplicas: 3 })).toEqual([3]);
  });
  test('what cannot be seen stays for as long', () => {
    expect(run(times(100, load([0, 0], 1)), 3)).toEqual(times(100, 3));
  });
  test('what somebody sets by hand stands for the window', () => {
    const quiet = load([0]);
    const first = decideReplicas(null, quiet, rule, 1, 0);
    const raised = decideReplicas(first, quiet, rule, 5, 10_000);
    expect(raised.replicas).toBe(5);
    expect(decideReplicas(raised, quiet, rule, 5, 309_000).replicas).toBe(5);
    expect(decideReplicas(raised, quiet, rule, 5, 310_000).replicas).toBe(1);
  });
  test('so do fewer, unless the load needs more', () => {
    const five = decideReplicas(null, load(pods(5, 9.6)), rule, 5, 0);
    const lowered = decideReplicas(five, load(pods(2, 5)), rule, 2, 10_000);
    expect(lowered.replicas).toBe(2);
    expect(decideReplicas(lowered, load([0, 0]), rule, 2, 309_000).replicas).toBe(2);
    expect(decideReplicas(lowered, load([0, 0]), rule, 2, 310_000).replicas).toBe(1);
    expect(decideReplicas(lowered, load(pods(2, 20)), rule, 2, 20_000).replicas).toBe(4);
  });
  test('what is no number changes nothing, then or later', () => {
    const odd = decideReplicas(null, load([NaN]), rule, 3, 0);
    expect(odd.replicas).toBe(3);
    expect(decideReplicas(odd, load(pods(3, 20)), rule, 3, 10_000).replicas).toBe(6);
  });
});
