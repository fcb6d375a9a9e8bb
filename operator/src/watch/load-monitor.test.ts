import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { pod } from '../status/observed.fixture.js';
import { LoadMonitor } from './load-monitor.js';

test('asks every pod that loads, however many there are', async () => {
  const pods = Array.from({ length: 150 }, (_, index) => pod(`demo-${index}`));
  const asked = new Set<string>();
  const monitor = new LoadMonitor({
    pods: () => pods,
    onChange: () => undefined,
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

test.each([
  ['more than a short answer', `[${'[],'.repeat(2 ** 16)}[]]`],
  ['numbers that no status holds', '{"load":{"phase":"load","bytesDone":1e300,"bytesTotal":1}}'],
  ['a load that is none', '{"load":{"phase":{"phase":"load"},"bytesDone":"1","bytesTotal":[]}}'],
])('a pod that reports %s has no progress to show', async (_, text) => {
  let answers = 0;
  const server = createServer((_request, response) => response.end(text, () => (answers += 1))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const notified: string[] = [];
  const monitor = new LoadMonitor({
    pods: () => [pod('demo-1')],
    onChange: (key) => notified.push(key),
    intervalMs: 1,
    baseUrl: () => `http://127.0.0.1:${port}`,
  });
  monitor.start();
  for (let tries = 0; tries < 2_500 && answers < 3; tries += 1) await sleep(5);
  monitor.stop();
  server.close();
  expect([answers >= 3, notified, monitor.of([pod('demo-1')]).size]).toEqual([true, [], 0]);
});
