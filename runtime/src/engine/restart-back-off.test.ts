import { describe, expect, test } from '@jest/globals';
import { RestartBackOff } from './restart-back-off.js';

describe('RestartBackOff', () => {
  const limits = { backOff: 5_000, healthy: 60_000 };

  test.each([
    ['one that never served', [0, 0, 0, 0, 0, 0], [0, 1_000, 2_000, 4_000, 5_000, 5_000]],
    ['one that serves too shortly', [60_000, 60_000, 60_000], [0, 1_000, 2_000]],
    ['one that has served well again', [0, 0, 0, 60_001, 0], [0, 1_000, 2_000, 0, 1_000]],
  ])('%s', (_, served, delays) => {
    const backOff = new RestartBackOff(limits);
    expect(served.map((ms) => backOff.delayAfter(ms))).toEqual(delays);
  });
});
