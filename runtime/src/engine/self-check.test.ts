import { expect, test } from '@jest/globals';
import { Flights } from './flights.js';
import { numericalFailure } from './numerical-failure.js';
import { emptyOutput } from './output-queue.js';
import type { ServerMessage } from './protocol.js';
import { findUnsound, isSelfCheck } from './self-check.js';

const failure = numericalFailure({ slot: 0, position: 0, kind: 'notFinite', layer: 0, part: 'input norm' });

test('a check that begins while another runs takes none of its answers', async () => {
  const asked: string[] = [];
  const flights = new Flights((message: ServerMessage) => {
    if (message.type === 'submit') asked.push(message.request.id);
  });
  const checks = [findUnsound(flights, 300), findUnsound(flights, 300)];
  await new Promise(setImmediate);
  expect(asked.every(isSelfCheck)).toBe(true);
  for (const id of asked) flights.update({ ...emptyOutput, id, failure });
  expect(await Promise.all(checks)).toEqual([failure, failure]);
  expect(flights.size).toBe(0);
});
