import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createLogger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { ClusterRoom } from './cluster-room.js';

/** A cluster whose lists of pods last until they are ended, and whose clock moves only where it is set. */
function cluster() {
  const lists: string[] = [];
  const clock = { now: 0 };
  let running = 0;
  let maxRunning = 0;
  let go: () => void = () => undefined;
  const client = {
    async *list(path: string) {
      lists.push(path);
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      if (path.endsWith('/pods')) await new Promise<void>((resolve) => (go = resolve));
      running -= 1;
      yield* [];
    },
  } as unknown as KubeClient;
  const room = new ClusterRoom(client, createLogger({ silent: true }), () => clock.now);
  return { room, lists, clock, maxRunning: () => maxRunning, go: () => go() };
}

test('a look that lasts is shared by all who ask meanwhile: no other begins', async () => {
  const { room, lists, clock, maxRunning, go } = cluster();
  const looks = [room.look()];
  for (let asked = 0; asked < 5; asked += 1) {
    // Longer than a look is fresh.
    clock.now += 10_000;
    await turn();
    looks.push(room.look());
  }
  expect(lists).toHaveLength(1);
  go();
  expect(await Promise.all(looks)).toEqual(looks.map(() => []));
  expect(maxRunning()).toBe(1);
});

test.each([
  ['a while', 100, 2_000],
  ['as long as it took', 30_000, 30_000],
])('it is fresh from its end for %s', async (_name, tookMs, freshMs) => {
  const { room, lists, clock, go } = cluster();
  const first = room.look();
  await turn();
  clock.now = tookMs;
  go();
  await first;
  expect(lists).toHaveLength(2);

  clock.now = tookMs + freshMs - 1;
  await room.look();
  expect(lists).toHaveLength(2);

  clock.now = tookMs + freshMs;
  const next = room.look();
  await turn();
  expect(lists).toHaveLength(3);
  go();
  await next;
});
