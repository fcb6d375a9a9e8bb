import { describe, expect, test } from '@jest/globals';
import type { Pod, PodSpec } from '../../kube/types.js';
import { decideRollout, reviewRollout, type NodeRoom, type Rollout } from './rollout.js';

const gpu = 'amd.com/gpu';
const podSpec = (devices: number, change: PodSpec = {}): PodSpec => ({
  containers: [{ name: 'runtime', resources: { requests: { [gpu]: String(devices), memory: '1Gi' } } }],
  ...change,
});
const oldPod = (devices: number, nodeName: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'old' },
  spec: podSpec(devices, { nodeName }),
});
const node = (name: string, devices: number, change: Partial<NodeRoom> = {}): NodeRoom => ({
  name,
  labels: {},
  taints: [],
  free: { [gpu]: devices, memory: 2 ** 34, pods: 10 },
  ...change,
});
const base: Rollout = {
  groupSize: 1,
  strategy: 'Auto',
  current: 'surge',
  changing: true,
  pod: podSpec(2),
  oldPods: [oldPod(2, 'a')],
  unschedulable: null,
  ...{ metadata: {}, match: null },
};
const taint = { key: 'dedicated', value: 'ml', effect: 'NoSchedule' };

describe('a new template', () => {
  test.each<[string, Partial<Rollout>, NodeRoom[], string]>([
    ['a spare device pair', {}, [node('a', 0), node('b', 2)], 'surge'],
    ['no spare device', {}, [node('a', 0)], 'drain'],
    ['one too few', {}, [node('a', 1), node('b', 1)], 'drain'],
    ['room behind a taint', {}, [node('a', 0), node('b', 2, { taints: [taint] })], 'drain'],
    [
      'room behind a tolerated taint',
      { pod: podSpec(2, { tolerations: [taint] }) },
      [node('a', 0), node('b', 2, { taints: [taint] })],
      'surge',
    ],
    [
      'room on a node that is not selected',
      { pod: podSpec(2, { nodeSelector: { zone: 'x' } }) },
      [node('b', 2)],
      'surge',
    ],
    ['no memory for two', { pod: podSpec(2) }, [node('a', 2, { free: { [gpu]: 2, pods: 10 } })], 'drain'],
    [
      'no place for another pod',
      {},
      [node('a', 2, { free: { [gpu]: 2, memory: 2 ** 34, pods: 0 } })],
      'drain',
    ],
    ['a group on two nodes', { groupSize: 2 }, [node('a', 2), node('b', 2)], 'surge'],
    ['room for half of a group', { groupSize: 2 }, [node('a', 0), node('b', 2)], 'drain'],
    ['a group that no freed devices hold', { groupSize: 3 }, [node('a', 0), node('b', 2)], 'surge'],
    ['a group on one node', { groupSize: 2 }, [node('b', 4)], 'surge'],
    ['more than any node has', { pod: podSpec(8) }, [node('a', 0), node('b', 2)], 'surge'],
    [
      'more than one old pod holds, but not two',
      { pod: podSpec(2), oldPods: [oldPod(1, 'a'), oldPod(1, 'a')] },
      [node('a', 0)],
      'drainAll',
    ],
  ])('with %s', (_name, change, nodes, expected) => {
    const rollout = { ...base, ...change };
    expect(reviewRollout(rollout, 30_000)).toEqual({ state: 'open' });
    expect(decideRollout(rollout, nodes, null)).toBe(expected);
  });

  test('is tried alongside the old pods where nodes may not be read', () => {
    expect(decideRollout(base, null, null)).toBe('surge');
  });

  test.each([
    ['Surge', 'surge'],
    ['Drain', 'drain'],
  ] as const)('goes by %s where the spec says so, whatever happens', (strategy, replacement) => {
    for (const unschedulable of [null, { message: 'Insufficient amd.com/gpu', forMs: 1e9 }]) {
      expect(reviewRollout({ ...base, strategy, unschedulable }, 30_000)).toMatchObject({ replacement });
    }
  });

  test('with nothing to replace needs no look at the nodes', () => {
    expect(reviewRollout({ ...base, oldPods: [] }, 30_000)).toMatchObject({ replacement: 'surge' });
  });
});

describe('a new pod that finds no node', () => {
  const waiting = (message: string, forMs = 30_000): Rollout => ({
    ...base,
    changing: false,
    unschedulable: { message: `0/3 nodes are available: ${message}`, forMs },
  });

  test('is left to wait for a while', () => {
    const review = reviewRollout(waiting('1 Insufficient amd.com/gpu.', 12_000), 30_000);
    expect(review).toEqual({ state: 'settled', replacement: 'surge', recheckMs: 18_000 });
    expect(reviewRollout(waiting('1 Insufficient amd.com/gpu.'), 30_000)).toEqual({ state: 'open' });
  });

  test('stays with the decision to drain', () => {
    const rollout = { ...waiting('1 Insufficient amd.com/gpu.'), current: 'drain' as const };
    expect(reviewRollout(rollout, 30_000)).toMatchObject({ state: 'settled', replacement: 'drain' });
  });

  test.each([
    ['3 Insufficient amd.com/gpu.', 2, 'drain'],
    ['1 Insufficient amd.com/gpu, 2 node(s) had untolerated taint {a: b}.', 2, 'drain'],
    ['3 Insufficient amd.com/gpu.', 8, 'surge'],
    ['1 Insufficient amd.com/gpu, 1 Insufficient cpu.', 2, 'drain'],
    ["3 node(s) didn't match Pod's node affinity/selector.", 2, 'surge'],
    ["3 node(s) didn't match pod anti-affinity rules.", 2, 'drain'],
  ])('%s, asking for %i → %s', (message, devices, expected) => {
    const rollout = { ...waiting(message), pod: podSpec(devices) };
    expect(decideRollout(rollout, null, null)).toBe(expected);
  });

  test('costs no serving pod where the nodes show that this would not help', () => {
    const rollout = { ...waiting('3 Insufficient amd.com/gpu.'), pod: podSpec(2) };
    expect(decideRollout(rollout, [node('b', 1)], null)).toBe('surge');
    expect(decideRollout(rollout, [node('a', 0)], null)).toBe('drain');
  });
});
