import { beforeEach, expect, test } from '@jest/globals';
import { PrefillPods } from './prefill-pods.js';

let addresses: string[];
let now: number;
let pods: PrefillPods;
beforeEach(() => {
  addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  now = 0;
  pods = new PrefillPods(
    () => addresses,
    () => now,
  );
});

const keys = Array.from({ length: 300 }, (_, i) => `prompt ${String(i)}`);
const firsts = (): string[] => keys.map((key) => pods.inOrder(key)[0]!);

test('prompts that begin alike go to one pod, and others to each as often', () => {
  expect(firsts()).toEqual(firsts());
  for (const pod of addresses)
    expect(firsts().filter((each) => each === pod).length / keys.length).toBeCloseTo(1 / 3, 1);
});

test('only those of a pod that is gone go elsewhere', () => {
  const before = firsts();
  addresses = ['10.0.0.1', '10.0.0.3'];
  const moved = firsts().filter((pod, i) => pod !== before[i]);
  expect(moved.length).toBe(before.filter((pod) => pod === '10.0.0.2').length);
});

test('a pod that has more than its share comes last', () => {
  const [first, second] = pods.inOrder('a');
  pods.begin(first!);
  expect(pods.inOrder('a')).toEqual([second, expect.anything(), first]);
  for (const pod of addresses) pods.begin(pod);
  expect(pods.inOrder('a')[0]).toBe(first);
});

test('a pod that failed is left alone, for longer each time, and is then tried with one prompt', () => {
  const [first, second] = pods.inOrder('a');
  const asked = (): boolean => pods.inOrder('a').includes(first!);
  for (const milliseconds of [1_000, 2_000, 4_000]) {
    pods.begin(first!)('failed');
    now += milliseconds - 1;
    expect(asked()).toBe(false);
    now += 1;
    expect(asked()).toBe(true);
  }
  const end = pods.begin(first!);
  expect(asked()).toBe(false);
  expect(pods.inOrder('a')[0]).toBe(second);
  end('done');
  expect(pods.inOrder('a')[0]).toBe(first);
});

test('it is never left alone for more than half a minute', () => {
  for (let i = 0; i < 40; i++) pods.begin('10.0.0.1')('failed');
  now += 30_000;
  expect(pods.inOrder('a')).toContain('10.0.0.1');
});

test('where there is none, none is asked', () => {
  addresses = [];
  expect(pods.inOrder('a')).toEqual([]);
});
