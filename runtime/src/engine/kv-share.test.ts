import { expect, test } from '@jest/globals';
import { kvShare } from './kv-share.js';

const settings = { blockSize: 64, maxNumSeqs: 16, memoryUtilizationPercent: 90 } as const;
const plan = { numBlocks: 700, maxModelLen: 8000, adapterBytes: 3000 };

test('on the CPU an engine takes the blocks of the plan', () => {
  expect(kvShare({ ...settings, accelerator: 'cpu' }, plan)).toEqual({ numBlocks: 700, memory: null });
});

test.each(['cuda', 'hip'] as const)(
  'on %s it takes what fits, up to all that its sequences can fill',
  (accelerator) => {
    expect(kvShare({ ...settings, accelerator }, plan)).toEqual({
      numBlocks: 16 * 125,
      memory: {
        utilizationPercent: 90,
        contextBytes: 512 * 2 ** 20,
        graphBytes: 512 * 2 ** 20 + 3000,
        plannedBlocks: 700,
      },
    });
  },
);
