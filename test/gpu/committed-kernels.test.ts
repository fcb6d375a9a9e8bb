// Which matrix instruction a product runs on is a matter of the weights' type and the processor alone, never of a shape or
// of the number of rows. `make kernels` holds compiled code to the rules; this holds the committed table to them, which
// takes no compiler.

import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

import { brokenRules, type KernelRule, type NamedKernel } from './kernel-rules.js';

const backend = new URL('../../native/src/backends/gpu/', import.meta.url);
const page = readFileSync(new URL('kernels.md', backend), 'utf8');
const rules = JSON.parse(readFileSync(new URL('kernels.rules.json', backend), 'utf8')) as KernelRule[];

const kernels = [...page.matchAll(/^\| `(.+)` \| (\w+) \|.*\| ([^|]*) \|$/gm)].map(
  ([, name = '', target = '', instructions = '']): NamedKernel => ({
    ...{ symbol: name, name, target, registers: 0, accumulators: 0, scalars: 0 },
    ...{ spillBytes: 0, stackBytes: 0, sharedBytes: 0, hotLocals: 0 },
    instructions: new Map(
      instructions
        .split(', ')
        .map((each) => each.split(' '))
        .map(([count, mnemonic = '']) => [mnemonic, Number(count)]),
    ),
  }),
);
const targets = [...new Set(kernels.map(({ target }) => target))];

test('the committed table of kernels keeps the rules', () => {
  expect(targets).toEqual(expect.arrayContaining(['sm_90a', 'gfx90a', 'gfx942']));
  expect(brokenRules(kernels, rules, targets)).toEqual([]);
});

test.each([
  [3, 'gfx942', 'v_mfma_f32_16x16x32_fp8_fp8'],
  [3, 'gfx90a', 'v_mfma_f32_16x16x16f16'],
  [2, 'gfx942', 'v_mfma_f32_16x16x16_f16'],
  [1, 'gfx942', 'v_mfma_f32_16x16x16_bf16'],
  [1, 'gfx90a', 'v_mfma_f32_16x16x16bf16_1k'],
])('products of weights of type %d on %s run on %s and on no other, in every shape', (type, target, only) => {
  const shapes = kernels.filter(
    (kernel) =>
      kernel.target === target && new RegExp(`^(sliced|walked)_kernel<${String(type)},`).test(kernel.name),
  );
  expect(shapes.length).toBeGreaterThanOrEqual(4);
  for (const { instructions } of shapes) expect([...instructions.keys()]).toEqual([only]);
});
