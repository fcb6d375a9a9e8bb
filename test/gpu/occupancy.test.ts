import { describe, expect, test } from '@jest/globals';
import { occupancyOf, parseKernelTable, parseLaunches } from './occupancy.js';

const few = { vector: 12, accumulation: 0, scalar: 28, sharedBytes: 0 };

// By hand: 512 registers of a lane over those of a wave, rounded up to 8; 65,536 bytes over those of a block.
describe('waves of a compute unit', () => {
  test.each([
    ['nothing but the slots', few, { threads: 256, sharedBytes: 0 }, 8, 8, 'slots'],
    [
      '512 / 104 = 4 waves',
      { ...few, vector: 98 },
      { threads: 512, sharedBytes: 0 },
      2,
      4,
      'vector registers',
    ],
    [
      'both kinds of vector registers: 512 / 272',
      { ...few, vector: 164, accumulation: 104 },
      { threads: 256, sharedBytes: 0 },
      1,
      1,
      'vector registers',
    ],
    [
      '7 waves of many scalar registers: three blocks of two waves a SIMD',
      { ...few, scalar: 106 },
      { threads: 512, sharedBytes: 0 },
      3,
      6,
      'scalar registers',
    ],
    [
      'three blocks of 16,896 bytes',
      { ...few, vector: 100 },
      { threads: 256, sharedBytes: 16896 },
      3,
      3,
      'local memory',
    ],
    [
      'the kernel’s own local memory and the launch’s together, by 512: 65,536 / 33,280',
      { ...few, sharedBytes: 513 },
      { threads: 128, sharedBytes: 32256 },
      1,
      0.5,
      'local memory',
    ],
  ] as const)('by %s', (_, registers, block, blocks, wavesPerSimd, limit) => {
    expect(occupancyOf(registers, block)).toEqual({ blocks, wavesPerSimd, limit });
  });
});

test('rows of the table for gfx942 are read, and of no other target', () => {
  const page = [
    '| `scan_kernel<true>` | gfx90a | 1 v + 2 a, 3 s | 2 | 0 | 0 | 0 | 4 |  |',
    '| `scan_kernel<true>` | gfx942 | 256 v + 34 a, 58 s | 1 | 0 | 0 | 0 | 16 | 168 v_mfma_f32_16x16x4_f32 |',
    '| `scan_kernel<true>` | sm_90a | 255 | 2 | 0 | 0 | 0 | 0 |  |',
  ].join('\n');
  expect([...parseKernelTable(page)]).toEqual([
    ['scan_kernel<true>', { vector: 256, accumulation: 34, scalar: 58, sharedBytes: 16 }],
  ]);
});

test('launches are read below their heading', () => {
  expect(parseLaunches('kernel\tthreads\tshared\twhen\na<1>\t256\t16384\tprompts\n')).toEqual([
    { kernel: 'a<1>', threads: 256, sharedBytes: 16384, when: 'prompts' },
  ]);
});
