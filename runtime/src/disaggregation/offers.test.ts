import { beforeEach, expect, test } from '@jest/globals';
import { asking, text, World } from '../schedule/cache-world.fixture.js';
import type { GenerateRequest } from '../schedule/generation.js';
import { Offers } from './offers.js';
import { TransferCounts } from './transfer-counts.js';

let world: World;
let now: number;
let counts: TransferCounts;
let offers: Offers;
let readers: Map<string, number>;
let released: number;
/** Set: what an offer of the engine rejects with. */
let refusal: Error | null;

beforeEach(() => {
  world = new World();
  now = 0;
  released = 0;
  refusal = null;
  readers = new Map();
  counts = new TransferCounts();
  offers = new Offers({
    prompts: world.scheduler.prompts,
    transfer: {
      offer: async (ticket, blocks) => {
        await Promise.resolve();
        if (refusal !== null) throw refusal;
        readers.set(ticket, blocks.length);
      },
      withdraw: async (ticket) => {
        await Promise.resolve();
        readers.delete(ticket);
      },
    },
    counts,
    now: () => now,
    released: () => released++,
  });
});

/** For another engine that has two blocks of it. */
const wanted = (): GenerateRequest => asking(text('a', 200), { maxTokens: 1, offerFrom: 2 });

test('a prompt that was computed for another engine is readable until that has it', async () => {
  const request = wanted();
  offers.expect(request);
  world.ask(request);
  expect(await offers.open(request.id)).toEqual({ blocks: 10, snapshot: false, tokens: 192 });
  expect(readers).toEqual(new Map([[request.id, 10]]));
  expect(world.scheduler.stats.blocksUsed).toBe(12);
  expect(counts.stats.ticketsOpen).toBe(1);
  await Promise.all([offers.withdraw(request.id), offers.withdraw(request.id)]);
  expect(readers.size).toBe(0);
  expect(world.scheduler.stats.blocksUsed).toBe(0);
  expect(counts.stats).toMatchObject({ ticketsOpen: 0, ticketsExpiredTotal: 0 });
  expect(released).toBe(1);
});

test('any other request is no offer, and neither is one that nobody waits for', async () => {
  const [plain, left] = [asking(text('a', 50)), wanted()];
  offers.expect(plain);
  offers.expect(left);
  await offers.withdraw(left.id);
  world.ask(plain);
  world.ask(left);
  expect(offers.open(plain.id)).toBeNull();
  expect(offers.open(left.id)).toBeNull();
});

test('what nobody fetches is free after a minute', async () => {
  const request = wanted();
  offers.expect(request);
  world.ask(request);
  await offers.open(request.id);
  now = 59_999;
  offers.expire();
  await new Promise(setImmediate);
  expect(world.scheduler.stats.blocksUsed).toBe(12);
  now = 60_000;
  offers.expire();
  offers.expire();
  await new Promise(setImmediate);
  expect(world.scheduler.stats.blocksUsed).toBe(0);
  expect(counts.stats.ticketsExpiredTotal).toBe(1);
});

test('what the engine does not offer is free at once', async () => {
  const request = wanted();
  offers.expect(request);
  world.ask(request);
  refusal = new Error('no');
  await expect(offers.open(request.id)).rejects.toThrow('no');
  expect(world.scheduler.stats.blocksUsed).toBe(0);
});
