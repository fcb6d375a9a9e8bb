import { describe, expect, jest, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { backoffMs } from '@llmservice/crds';
import { WorkQueue } from './work-queue.js';

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const quiet = { backoff: { firstMs: 5, maxMs: 20 }, onError: () => undefined };

describe('WorkQueue', () => {
  test('works each key once however often it is added, and again when it was added meanwhile', async () => {
    const { opened, open } = gate();
    const worked: string[] = [];
    const queue = new WorkQueue({
      ...quiet,
      concurrency: 2,
      work: async (key) => {
        worked.push(key);
        await opened;
        return null;
      },
    });
    queue.add('a');
    queue.add('a');
    queue.add('a');
    expect(worked).toEqual(['a']);
    expect(queue.depth).toBe(1);
    open();
    await turn();
    expect(worked).toEqual(['a', 'a']);
  });

  test('never has more than its workers at work, and one that hangs starves no other', async () => {
    const never = gate();
    const worked: string[] = [];
    const queue = new WorkQueue({
      ...quiet,
      concurrency: 2,
      work: async (key) => {
        worked.push(key);
        if (key === 'hangs') await never.opened;
        return null;
      },
    });
    for (const key of ['hangs', 'a', 'b', 'c']) queue.add(key);
    await turn();
    expect(worked).toEqual(['hangs', 'a', 'b', 'c']);
    never.open();
  });

  test('backs off a key that fails until it succeeds', async () => {
    const delays: number[] = [];
    let left = 3;
    const queue = new WorkQueue({
      concurrency: 1,
      backoff: { firstMs: 1, maxMs: 1000 },
      onError: (_key, _error, delayMs) => delays.push(delayMs),
      work: () => (left-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve(null)),
    });
    queue.add('a');
    while (left > -1) await turn();
    expect(delays).toEqual([1, 2, 4]);
  });

  test('keeps to its delays when the clock is set', async () => {
    const worked: string[] = [];
    const queue = new WorkQueue({
      ...quiet,
      concurrency: 1,
      work: (key) => {
        worked.push(key);
        return Promise.resolve(null);
      },
    });
    queue.addAfter('a', 60_000);
    const now = Date.now() + 3_600_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    queue.addAfter('a', 10);
    clock.mockRestore();
    while (worked.length === 0) await turn();
    expect(worked).toEqual(['a']);
    await queue.stop();
  });

  test('does nothing more once stopped', async () => {
    const worked: string[] = [];
    const queue = new WorkQueue({
      ...quiet,
      concurrency: 1,
      work: (key) => {
        worked.push(key);
        return Promise.resolve(1);
      },
    });
    queue.add('a');
    await queue.stop();
    queue.add('b');
    await turn();
    expect(worked).toEqual(['a']);
  });
});

test('back-off doubles up to its limit', () => {
  const limits = { firstMs: 100, maxMs: 1000 };
  expect([1, 2, 3, 4, 5, 500].map((n) => backoffMs(n, limits))).toEqual([100, 200, 400, 800, 1000, 1000]);
});
