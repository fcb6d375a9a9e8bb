import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createLogger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { ClusterRoom } from './cluster-room.js';

/** A cluster whose lists last until they are ended. */
function cluster() {
  const lists: string[] = [];
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
  const room = new ClusterRoom(client, createLogger({ silent: true }), 20);
  return { room, lists, maxRunning: () => maxRunning, go: () => go() };
}

test('a look that lasts is shared by all who ask meanwhile: no other begins', async () => {
  const { room, lists, maxRunning, go } = cluster();
  const looks = [room.look()];
  for (let asked = 0; asked < 5; asked += 1) {
    // Longer than a look is fresh.
    await sleep(10);
    looks.push(room.look());
  }
  expect(lists).toHaveLength(1);
  go();
  expect(await Promise.all(looks)).toEqual(looks.map(() => []));
  expect(maxRunning()).toBe(1);
});

test('it is fresh for a while from its end, and for as long as it took', async () => {
  const { room, lists, go } = cluster();
  const first = room.look();
  await sleep(150);
  go();
  await first;
  await sleep(30);
  await room.look();
  expect(lists).toHaveLength(2);
  await sleep(200);
  const next = room.look();
  await sleep(5);
  expect(lists).toHaveLength(3);
  go();
  await next;
});
