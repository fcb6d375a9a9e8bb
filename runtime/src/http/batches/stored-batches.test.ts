import { beforeEach, expect, test } from '@jest/globals';
import { become, type Batch } from './batch.js';
import { MemoryObjectStore } from '../objects/memory-object-store.js';
import { placeOf, StoredBatches } from './stored-batches.js';

let now: number;
let objects: MemoryObjectStore;
let batches: StoredBatches;
beforeEach(() => {
  now = 1_000;
  objects = new MemoryObjectStore(() => now);
  batches = new StoredBatches(objects, () => now);
});

const asked = { endpoint: '/v1/completions', inputFileId: 'file-1', metadata: { a: 'b' } } as const;
const mine = { holder: 'a', until: 2_000 };
const others = { holder: 'b', until: 2_000 };

test('a batch is found by its owner alone, the newest first', async () => {
  const first = await batches.create('a', asked);
  now += 1;
  const second = await batches.create('a', asked);
  expect(await batches.require('a', first.id)).toEqual(first);
  await expect(batches.require('b', first.id)).rejects.toMatchObject({ code: 'batch_not_found' });
  await expect(batches.require('a', '../x')).rejects.toMatchObject({ code: 'batch_not_found' });
  expect(await batches.ids('a')).toEqual([second.id, first.id]);
  expect(await batches.existing('a', [second.id, 'batch_1'])).toEqual([second]);
});

test('of changes at once each is made, on top of the others', async () => {
  const batch = await batches.create('a', asked);
  const add = (before: Batch): Batch => ({ ...before, completed: before.completed + 1 });
  await Promise.all(Array.from({ length: 5 }, () => batches.change(placeOf(batch), add)));
  expect(await batches.require('a', batch.id)).toMatchObject({ completed: 5 });
});

test('of pods that claim a batch at once, one has it', async () => {
  const batch = await batches.create('a', asked);
  const claims = await Promise.all([mine, others].map((lease) => batches.claim(placeOf(batch), lease)));
  expect(claims.filter((claimed) => claimed !== null)).toHaveLength(1);
});

test('what is over is in no queue, even where a pod was lost before it took it out', async () => {
  const batch = await batches.create('a', asked);
  const [entry] = await objects.list('queue/');
  expect(await batches.queue()).toEqual([placeOf(batch)]);
  await batches.change(placeOf(batch), (before) => become(before, 'failed', now));
  expect(await batches.queue()).toEqual([]);
  await objects.put(entry!.key, Buffer.from('-'), 'nothing');
  expect(await batches.claim(placeOf(batch), mine)).toBeNull();
  expect(await batches.queue()).toEqual([]);
});

test('an entry without a batch is kept for a while, in which the batch may come', async () => {
  const batch = await batches.create('a', asked);
  const { folder } = placeOf(batch);
  await objects.delete(`batches/${folder}/${batch.id}.json`);
  expect(await batches.claim(placeOf(batch), mine)).toBeNull();
  expect(await batches.queue()).toHaveLength(1);
  now += 3_600_001;
  expect(await batches.claim(placeOf(batch), mine)).toBeNull();
  expect(await batches.queue()).toEqual([]);
});

test('a key that queues a hundred waits, and another does not', async () => {
  for (let i = 0; i < 100; i++) await batches.create('a', asked);
  await expect(batches.create('a', asked)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await batches.create('b', asked);
});
