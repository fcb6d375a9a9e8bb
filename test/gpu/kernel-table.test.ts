import { expect, test } from '@jest/globals';
import { kernelCode } from './kernel-code.fixture.js';
import { wavesOf } from './kernel-code.js';
import { renderTable, rowsOf, shortName } from './kernel-table.js';

test.each([
  ['gpu::mma(float*, unsigned int const*)', 'mma'],
  [
    'void llmservice::gpu::(anonymous namespace)::rms_norm_kernel<true>(float*, float const*)',
    'rms_norm_kernel<true>',
  ],
  [
    'void llmservice::gpu::each_kernel<llmservice::gpu::(anonymous namespace)::Add>(long, long, Add)',
    'each_kernel<Add>',
  ],
  ['void scale_rows<(int)64, (bool)1, -8>(float*)', 'scale_rows<64, 1, -8>'],
  ['void apply<float (*)(float)>(int)', 'apply<float (*)(float)>'],
])('%s is shown as %s', (demangled, short) => {
  expect(shortName(demangled)).toBe(short);
});

// By hand: 65,536 registers of a multiprocessor, four schedulers, 32 lanes; 512 registers a lane of a SIMD.
test.each([
  ['sm_90a', 128, 4],
  ['sm_90a', 129, 3],
  ['sm_90a', 16, 16],
  ['sm_89', 16, 12],
  ['gfx942', 224, 2],
  ['gfx942', 12, 8],
])('on %s, %d registers leave room for %d waves', (target, registers, waves) => {
  expect(wavesOf(kernelCode(target, { registers }))).toBe(waves);
});

test('a target whose limits are not written down is refused', () => {
  expect(() => wavesOf(kernelCode('gfx950'))).toThrow('gfx950');
});

test('rows by name and in the order of targets, with matrix instructions and nothing else counted', () => {
  const instructions = new Map([
    ['v_mfma_f32_16x16x32_fp8_fp8', 16],
    ['v_mfma_f32_16x16x16_bf16', 4],
    ['v_add_f32_e32', 9],
  ]);
  const table = renderTable(
    [
      {
        file: 'matmul.cu',
        kernels: [
          { ...kernelCode('gfx942', { accumulators: 64, scalars: 40, instructions }), name: 'b' },
          {
            ...kernelCode('sm_80', {
              instructions: new Map([
                ['HFMA2.MMA', 3],
                ['LDSM.16.M88.4', 2],
              ]),
            }),
            name: 'b',
          },
          {
            ...kernelCode('sm_80', { spillBytes: 4, stackBytes: 8, hotLocals: 3, sharedBytes: 512 }),
            name: 'a<1>',
          },
        ],
      },
    ],
    ['sm_80', 'gfx942'],
    ['CUDA 13', 'clang 19'],
  );
  expect(table.split('\n').filter((line) => line.startsWith('| `'))).toEqual([
    '| `a<1>` | sm_80 | 128 | 4 | 4 | 8 | 3 | 512 |  |',
    '| `b` | sm_80 | 128 | 4 | 0 | 0 | 0 | 0 | 2 LDSM.16.M88.4 |',
    '| `b` | gfx942 | 64 v + 64 a, 40 s | 4 | 0 | 0 | 0 | 0 | 4 v_mfma_f32_16x16x16_bf16, 16 v_mfma_f32_16x16x32_fp8_fp8 |',
  ]);
  expect(rowsOf(table, ['sm_80'])).toBe(
    table
      .split('\n')
      .filter((line) => !line.includes('| gfx942 |'))
      .join('\n'),
  );
});
