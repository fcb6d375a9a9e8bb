// Full load on a replica for a time: clients that behave, and clients that do not, side by side, each worker with random
// numbers of its own from one seed.

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../runtime/src/schedule/workload.fixture.js';
import type { Seen } from './accounting.js';
import { badClients, goodClient, type BadClient, type Random } from './chaos.js';
import type { LoadReplica } from './load-replica.js';

export interface SoakOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly goodWorkers: number;
  readonly badWorkers: number;
  /** What is to be seen before it ends, though its time is over: a busy machine takes longer. */
  readonly enough?: (so: Pick<SoakResult, 'seen' | 'counts'>) => boolean;
}

export interface SoakResult {
  readonly seen: readonly Seen[];
  /** Answers that were not what they should be. */
  readonly errors: readonly string[];
  /** How often each kind of client came. */
  readonly counts: ReadonlyMap<string, number>;
  /** Resident bytes of server and engine, once a second. */
  readonly residentBytes: readonly number[];
}

export async function soak(replica: LoadReplica, options: SoakOptions): Promise<SoakResult> {
  const { seconds, seed, goodWorkers, badWorkers, enough = () => true } = options;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const seen: Seen[] = [];
  const errors: string[] = [];
  const counts = new Map<string, number>();

  const work = async (index: number, choose: (random: Random) => BadClient): Promise<void> => {
    const random = randomFrom(seed * 1000 + index);
    while (!over.signal.aborted && replica.isRunning) {
      const client = choose(random);
      counts.set(client.name, (counts.get(client.name) ?? 0) + 1);
      try {
        seen.push(...(await client({ port: replica.port, random, over: over.signal })));
      } catch (error) {
        errors.push(`${client.name}: ${(error as Error).message}`);
      }
    }
  };
  const workers = [
    ...Array.from({ length: goodWorkers }, (_, i) => work(i, () => goodClient)),
    ...Array.from({ length: badWorkers }, (_, i) => work(goodWorkers + i, anyBadClient)),
  ];
  const residentBytes: number[] = [];
  const end = performance.now() + seconds * 1000;
  for (;;) {
    await sleep(1000);
    if ((performance.now() >= end && enough({ seen, counts })) || !replica.isRunning) break;
    residentBytes.push(replica.residentBytes);
  }
  over.abort();
  await Promise.all(workers);
  return { seen, errors, counts, residentBytes };
}

function anyBadClient(random: Random): BadClient {
  let left = random(badClients.reduce((sum, { often }) => sum + often, 0));
  const chosen = badClients.find(({ often }) => (left -= often) < 0);
  return chosen?.client ?? goodClient;
}
