import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Poller } from './poller.js';

// Time passes only where a test has it pass.
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const intervalMs = 2;
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** A poller of some at once whose work on an item lasts until it is ended. */
function polled(items: () => readonly string[], maxAtOnce = 2, slowMs = 1_000) {
  const begun: string[] = [];
  const under = new Map<string, () => void>();
  const poller = new Poller({
    ...{ intervalMs, maxAtOnce, slowMs, items },
    key: (item) => item,
    each: (item) => {
      begun.push(item);
      return new Promise<void>((resolve) => under.set(item, resolve));
    },
  });
  poller.start();
  const end = (...which: string[]): void => {
    for (const each of which) {
      under.get(each)?.();
      under.delete(each);
    }
  };
  const until = async (holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 100 && !holds(); tries += 1) await pass(intervalMs);
    expect(holds()).toBe(true);
  };
  const times = (item: string): number => begun.filter((each) => each === item).length;
  return { poller, begun, under, end, until, times };
}

test('so many at once, each in its turn, none twice at a time', async () => {
  const { poller, begun, under, end, until } = polled(() => ['a', 'b', 'c']);
  await until(() => begun.length > 0);
  await pass(20);
  expect(begun).toEqual(['a', 'b']);
  end('a');
  await until(() => begun.length === 3);
  expect(begun).toEqual(['a', 'b', 'c']);
  end('b', 'c');
  await until(() => begun.length === 5);
  expect(new Set(begun.slice(3))).toEqual(new Set(['a', 'b']));
  end(...under.keys());
  await poller.stop();
});

test('one that hangs holds up none of the others', async () => {
  const { poller, under, end, until, times } = polled(() => ['hangs', 'b', 'c']);
  for (let turns = 1; turns <= 3; turns += 1) {
    await until(() => under.has('b') || under.has('c'));
    end('b', 'c');
    await until(() => under.has('b') || under.has('c'));
    end('b', 'c');
  }
  expect(times('hangs')).toBe(1);
  expect(times('b') + times('c')).toBeGreaterThanOrEqual(6);
  const stopping = poller.stop();
  end('hangs', 'b', 'c');
  await stopping;
});

test('many that were slow share half of the places', async () => {
  const slow = Array.from({ length: 10 }, (_, index) => `slow-${String(index)}`);
  let items = slow;
  const { poller, under, end, until, times } = polled(() => items, 4, 20);
  for (let ended = 0; ended < slow.length;) {
    await until(() => under.size > 0);
    await pass(30);
    ended += under.size;
    end(...under.keys());
  }
  items = [...slow, 'quick'];
  await until(() => under.has('quick') && under.size === 3);
  for (let turns = 0; turns < 3; turns += 1) {
    const before = times('quick');
    end('quick');
    await until(() => times('quick') > before);
  }
  expect([...under.keys()].filter((each) => each !== 'quick')).toHaveLength(2);
  const stopping = poller.stop();
  end(...under.keys());
  await stopping;
});

test('an interval without anything to do is followed by others', async () => {
  let asked = 0;
  const { poller, until } = polled(() => {
    asked += 1;
    return [];
  });
  await until(() => asked > 2);
  await poller.stop();
});

test('what is wanted no more is not begun', async () => {
  let items = ['a', 'b', 'c'];
  const { poller, begun, end, until } = polled(() => items);
  await until(() => begun.length === 2);
  items = ['a', 'b'];
  await pass(20);
  end('a');
  await until(() => begun.length === 3);
  expect(begun).toEqual(['a', 'b', 'a']);
  const stopping = poller.stop();
  end('a', 'b');
  await stopping;
});

test('stopping waits for what is under way and begins nothing else', async () => {
  const { poller, begun, end, until } = polled(() => ['a', 'b', 'c']);
  await until(() => begun.length === 2);
  let stopped = false;
  const stopping = poller.stop().then(() => (stopped = true));
  await pass(20);
  expect(stopped).toBe(false);
  end('a', 'b');
  await stopping;
  await pass(20);
  expect(begun).toEqual(['a', 'b']);
});
