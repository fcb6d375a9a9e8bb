import { expect, test } from '@jest/globals';
import { Flights } from './flights.js';
import { numericalFailure } from './numerical-failure.js';
import { emptyOutput } from './output-queue.js';
import { findUnsound, isProbe } from './probe-requests.js';
import type { GenerateRequest, ServerMessage } from './protocol.js';

const failure = numericalFailure({ slot: 0, position: 0, kind: 'notFinite', layer: 0, part: 'input norm' });

test('a check that begins while another runs takes none of its answers', async () => {
  const asked: string[] = [];
  const flights = new Flights((message: ServerMessage) => {
    if (message.type === 'submit') asked.push(message.request.id);
  });
  const info = { vocabSize: 300, bidirectional: false };
  const checks = [findUnsound(flights, info), findUnsound(flights, info)];
  await new Promise(setImmediate);
  expect(asked.every(isProbe)).toBe(true);
  for (const id of asked) flights.update({ ...emptyOutput, id, failure });
  expect(await Promise.all(checks)).toEqual([failure, failure]);
  expect(flights.size).toBe(0);
});

test('an encoder is asked for embeddings, as it has no tokens to give', async () => {
  const asked: GenerateRequest[] = [];
  const flights = new Flights((message: ServerMessage) => {
    if (message.type === 'submit') asked.push(message.request);
  });
  const check = findUnsound(flights, { vocabSize: 300, bidirectional: true });
  await new Promise(setImmediate);
  expect(asked).toHaveLength(3);
  for (const each of asked) {
    expect(each).toMatchObject({ pooling: 'last', maxTokens: 0 });
    flights.update({
      ...{ ...emptyOutput, id: each.id, failure: null },
      ...{ embedding: Float32Array.of(1), finish: 'stop' },
    });
  }
  expect(await check).toBeNull();
});
