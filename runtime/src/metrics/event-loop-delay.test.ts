import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { EventLoopDelay } from './event-loop-delay.js';

test('counts what held up the event loop once, by how long that was', async () => {
  const registry = new Registry();
  const count = async (bound: string): Promise<number> => {
    const line = (await registry.metrics()).split('\n').find((each) => each.includes(`le="${bound}"`));
    return Number(line?.split(' ')[1] ?? 0);
  };
  let nowMs = 0;
  const delay = new EventLoopDelay(registry, 'tiny', () => nowMs);
  nowMs += 300;
  while ((await count('+Inf')) < 3) await sleep(1);
  delay.stop();
  expect((await count('+Inf')) - (await count('0.2'))).toBe(1);
  expect((await count('+Inf')) - (await count('0.5'))).toBe(0);
});
