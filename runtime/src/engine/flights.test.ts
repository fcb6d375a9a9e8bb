// What waits for an engine process, and for how long.

import { expect, test } from '@jest/globals';
import { request } from '../schedule/workload.fixture.js';
import { Flights } from './flights.js';
import type { ServerMessage } from './protocol.js';

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const nobody = new AbortController().signal;

test('a request waits no longer than it allows for an engine that is away', async () => {
  const sent: ServerMessage[] = [];
  const flights = new Flights((message) => sent.push(message));
  const waiting = flights.open({ ...request('one', 3, 3), maxQueueMs: 20 }, nobody, false).next();
  await expect(waiting).rejects.toMatchObject({ failure: { reason: 'QueueTimeout' } });
  flights.sendAll();
  expect(sent).toEqual([]);
  expect(flights.size).toBe(0);
});

test('an engine that comes back gets what is left of that time', async () => {
  const sent: ServerMessage[] = [];
  const flights = new Flights((message) => sent.push(message));
  const patient = request('patient', 3, 3);
  const asked = [patient, { ...patient, id: 'other', maxQueueMs: 60_000 }];
  const leaving = new AbortController();
  const ends = asked.map((each) => flights.open(each, leaving.signal, false).next());
  await sleep(20);
  flights.sendAll();
  const left = sent.map((message) => (message.type === 'submit' ? message.request.maxQueueMs : NaN));
  expect(left[0]).toBeNull();
  expect(left[1]).toBeGreaterThan(0);
  expect(left[1]).toBeLessThanOrEqual(59_981);
  leaving.abort();
  await Promise.all(ends);
  expect(flights.size).toBe(0);
});
