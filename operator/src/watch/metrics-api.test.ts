import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { MetricsApi } from './metrics-api.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('looks again and again once there was an answer', async () => {
  const find = jest.fn(() => Promise.resolve(null));
  const api = new MetricsApi({ client: { find } as never, onChange: () => undefined, intervalMs: 1_000 });
  await api.start(new AbortController().signal);
  await jest.advanceTimersByTimeAsync(3_000);
  expect(find).toHaveBeenCalledTimes(4);
  api.stop();
  expect(jest.getTimerCount()).toBe(0);
});

test('leaves no timer where it is stopped while it asks for the first time', async () => {
  let answer = (): void => undefined;
  const find = (): Promise<null> => new Promise((resolve) => (answer = () => resolve(null)));
  const api = new MetricsApi({ client: { find } as never, onChange: () => undefined });
  const ended = new AbortController();
  const started = api.start(ended.signal);
  api.stop();
  ended.abort();
  answer();
  await started;
  expect(jest.getTimerCount()).toBe(0);
});
