import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pod } from '../status/picture.fixture.js';
import { LoadMonitor } from './load-monitor.js';

test('asks every pod that loads, however many there are', async () => {
  const pods = Array.from({ length: 150 }, (_, index) => pod(`demo-${index}`));
  const asked = new Set<string>();
  const monitor = new LoadMonitor({
    pods: () => pods,
    onProgress: () => undefined,
    intervalMs: 1,
    baseUrl: ({ metadata }) => {
      asked.add(metadata.name);
      return null;
    },
  });
  monitor.start();
  for (let tries = 0; tries < 2_500 && asked.size < pods.length; tries += 1) await sleep(5);
  monitor.stop();
  expect(asked.size).toBe(pods.length);
});
