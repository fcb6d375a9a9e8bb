import { expect, test } from '@jest/globals';
import { ProgressMeter } from './progress-meter.js';

test('reports rate and time left of what this process moved', () => {
  let now = 0;
  const meter = new ProgressMeter('pull', 10_000, 4_000, () => now);
  expect(meter.read()).toMatchObject({ bytesDone: 4_000, bytesPerSecond: 0, etaSeconds: null });
  for (let i = 0; i < 4; i += 1) {
    now += 500;
    meter.add(1_000);
  }
  expect(meter.read()).toEqual({
    phase: 'pull',
    bytesDone: 8_000,
    bytesTotal: 10_000,
    bytesPerSecond: 2_000,
    etaSeconds: 1,
  });
});

test('the rate follows the last seconds, not the whole past', () => {
  let now = 0;
  const meter = new ProgressMeter('pull', 1e9, 0, () => now);
  for (const bytes of [...Array<number>(60).fill(1_000_000), ...Array<number>(15).fill(1_000)]) {
    now += 1_000;
    meter.add(bytes);
  }
  expect(meter.read().bytesPerSecond).toBeLessThan(2_000);
});

test('a burst says no rate, nor does what was there before the meter', () => {
  let now = 0;
  const meter = new ProgressMeter('load', 2 ** 34, 2 ** 33, () => now);
  now += 1;
  meter.add(2 ** 30);
  expect(meter.read()).toMatchObject({ bytesPerSecond: 0, etaSeconds: null });
  now += 1_999;
  expect(meter.read()).toMatchObject({ bytesPerSecond: 2 ** 29, etaSeconds: 14 });
});
