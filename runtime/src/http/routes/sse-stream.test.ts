import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Response } from 'express';
import { SseStream } from './sse-stream.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('steps of which the client gets nothing do not put off what fills the silence', async () => {
  const sent = Object.assign(new PassThrough(), { headersSent: true, socket: null });
  const stream = new SseStream(sent as unknown as Response, ': still here\n\n');
  for (let step = 0; step < 3; step++) {
    jest.advanceTimersByTime(6000);
    await stream.send();
  }
  stream.end('data: end\n\n');
  expect(String(sent.read())).toBe(': still here\n\ndata: end\n\n');
});
