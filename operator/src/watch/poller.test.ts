import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Poller } from './poller.js';

/** A poller of two at once whose work lasts until it is ended. */
function polled(items: () => readonly string[]) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const poller = new Poller({
    intervalMs: 2,
    mostAtOnce: 2,
    items,
    each: (item) => {
      begun.push(item);
      return new Promise((resolve) => ends.push(resolve));
    },
  });
  poller.start();
  const end = (): void => ends.splice(0).forEach((each) => each());
  const until = async (holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 200 && !holds(); tries += 1) await sleep(5);
    expect(holds()).toBe(true);
  };
  return { poller, begun, end, until };
}

test('a round goes to its end, so many at once, before the next begins', async () => {
  const { poller, begun, end, until } = polled(() => ['a', 'b', 'c']);
  await until(() => begun.length > 0);
  await sleep(20);
  expect(begun).toEqual(['a', 'b']);
  end();
  await until(() => begun.length === 3);
  end();
  await until(() => begun.length === 5);
  expect(begun).toEqual(['a', 'b', 'c', 'a', 'b']);
  end();
  await poller.stop();
});

test('a round without anything to do is followed by others', async () => {
  let rounds = 0;
  const { poller, until } = polled(() => {
    rounds += 1;
    return [];
  });
  await until(() => rounds > 2);
  await poller.stop();
});

test('stopping waits for what is under way and begins nothing else', async () => {
  const { poller, begun, end, until } = polled(() => ['a', 'b', 'c']);
  await until(() => begun.length === 2);
  let stopped = false;
  const stopping = poller.stop().then(() => (stopped = true));
  await sleep(20);
  expect(stopped).toBe(false);
  end();
  await stopping;
  await sleep(20);
  expect(begun).toEqual(['a', 'b']);
});
