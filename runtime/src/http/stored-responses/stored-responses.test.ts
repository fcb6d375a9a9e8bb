// Responses in a store that two processes share.

import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../request/body/api-error.js';
import { MemoryResponseStore } from './memory-response-store.js';
import { EventLog } from './event-log.js';
import { asker, storedResponse } from './stored-response.fixture.js';
import type { ResponseStore } from './stored-response.js';
import { StoredResponses } from './stored-responses.js';

let now: number;
let here: StoredResponses;
let elsewhere: StoredResponses;
beforeEach(() => {
  now = 0;
  const memory = new MemoryResponseStore({ maxBytes: 1e6, maxCount: 10, maxAgeMs: 1e9 }, () => now);
  const shared: ResponseStore = {
    isShared: true,
    get: (asking, id) => memory.get(asking, id),
    put: (owner, stored) => memory.put(owner, stored),
    change: (asking, id, make) => memory.change(asking, id, make),
    hasConditions: () => memory.hasConditions(),
    delete: (owner, id) => memory.delete(owner, id),
  };
  here = new StoredResponses(shared, () => now);
  elsewhere = new StoredResponses(shared, () => now);
});

const id = 'resp_1';

/** Runs a response here. */
async function start(): Promise<{ end: () => void; kept: Promise<void> }> {
  let end = (): void => undefined;
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stored = storedResponse(id);
  const response = () => ({ ...stored.response, status: 'in_progress' as const });
  const log = new EventLog(() => undefined);
  const run = { owner: 'a', id, items: stored.items, response, log, cancel: end };
  const keep = async (): Promise<void> => {
    await here.put('a', stored);
  };
  const { found, kept } = here.run(run, work, keep);
  await found;
  return { end, kept };
}

test('what runs here is polled elsewhere, and is cancelled and streamed here alone', async () => {
  const { end, kept } = await start();
  expect((await elsewhere.require(asker('a'), id)).response.status).toBe('in_progress');
  for (const asked of [
    elsewhere.cancel(asker('a'), id),
    elsewhere.delete(asker('a'), id),
    elsewhere.eventsOf(asker('a'), id),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'server_busy', retryAfterSeconds: 1 });
  for (const asked of [
    here.require(asker('b'), id),
    elsewhere.require(asker('b'), id),
    here.cancel(asker('b'), id),
    here.eventsOf(asker('b'), id),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'response_not_found' });
  expect(await here.eventsOf(asker('a'), id)).toBeInstanceOf(EventLog);
  end();
  await kept;
  expect((await elsewhere.require(asker('a'), id)).response.status).toBe('completed');
});

test('what the store cannot take at once is tried again, as often as is asked for', async () => {
  let faults = 2;
  const away = ApiError.of('server_busy', 'S3 is away');
  const store: ResponseStore = {
    isShared: true,
    get: () => Promise.resolve(null),
    put: () => (faults-- > 0 ? Promise.reject(away) : Promise.resolve(true)),
    change: () => Promise.resolve('missing'),
    hasConditions: () => Promise.resolve(true),
    delete: () => Promise.resolve(false),
  };
  const responses = new StoredResponses(store);
  await expect(responses.put('a', storedResponse(id), [1])).rejects.toBe(away);
  faults = 2;
  expect(await responses.put('a', storedResponse(id), [1, 1, 60_000])).toBe(true);
});

test('what nobody runs any more has failed', async () => {
  const { end, kept } = await start();
  now = 59_999;
  expect((await elsewhere.require(asker('a'), id)).response.status).toBe('in_progress');
  now = 60_000;
  expect((await elsewhere.require(asker('a'), id)).response).toMatchObject({
    status: 'failed',
    error: { code: 'server_error', message: expect.stringContaining('has ended') },
  });
  expect((await here.require(asker('a'), id)).response.status).toBe('in_progress');
  end();
  await kept;
});
