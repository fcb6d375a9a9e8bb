import { expect, test } from '@jest/globals';
import type { KernelCode } from './kernel-code.js';
import { kernelCode } from './kernel-code.fixture.js';
import { brokenRules, type KernelRule, type NamedKernel } from './kernel-rules.js';

const instructions = new Map([['HGMMA.64x128x16.F32.BF16', 8]]);
const kernel = (target: string, changes: Partial<KernelCode> = {}): NamedKernel => ({
  ...kernelCode(target, { instructions, ...changes }),
  name: 'matmul<64, true>',
});
const broken = (kernels: NamedKernel[], ...rules: KernelRule[]): string[] =>
  brokenRules(kernels, rules, ['sm_90a']);

test('a kernel in registers with its instruction is fine', () => {
  const rule = { kernel: '^matmul<', target: 'sm_90a', instruction: '^HGMMA', why: 'speed' };
  expect(broken([kernel('sm_90a')], rule)).toEqual([]);
});

test('a kernel without the instruction that it was written for, with the reason', () => {
  const rule = { kernel: '^matmul<', instruction: '^QGMMA', why: 'fp8 runs on nothing else' };
  expect(broken([kernel('sm_90a')], rule)).toEqual([
    'matmul<64, true> for sm_90a has no instruction ^QGMMA: fp8 runs on nothing else',
  ]);
});

test('a spill, and an array in local memory, without any rule', () => {
  expect(broken([kernel('sm_90a', { spillBytes: 8, stackBytes: 16 })])).toEqual([
    'matmul<64, true> for sm_90a keeps 16 bytes a thread in memory (8 spilled); allowed are 0',
  ]);
  expect(broken([kernel('sm_90a', { stackBytes: 16 })])).toHaveLength(1);
});

test('local memory up to what its rule allows', () => {
  const rule = { kernel: 'matmul', localBytes: 16, why: 'once per step' };
  expect(broken([kernel('sm_90a', { stackBytes: 16 })], rule)).toEqual([]);
  expect(broken([kernel('sm_90a', { stackBytes: 20 })], rule)).toHaveLength(1);
});

test('local memory within the loops of products, unless a rule allows it', () => {
  const spilled = kernel('sm_90a', { stackBytes: 16, hotLocals: 2 });
  const rule = { kernel: 'matmul', localBytes: 16, why: 'once per step' };
  expect(broken([spilled], rule)).toEqual([
    'matmul<64, true> for sm_90a touches that memory 2 times in the loops of its products; allowed are 0',
  ]);
  expect(broken([spilled], { ...rule, hotLocals: 2 })).toEqual([]);
});

test('a kernel that one of its vendor’s targets lacks', () => {
  const targets = ['sm_80', 'gfx90a', 'gfx942'];
  expect(brokenRules([kernel('gfx90a')], [], targets)).toEqual(['matmul<64, true> is missing for gfx942']);
  expect(brokenRules([kernel('gfx90a'), kernel('gfx942')], [], targets)).toEqual([]);
});

test('a rule that matches nothing, by kernel or by target', () => {
  const stale = { kernel: '^matmul<', target: 'sm_80', why: 'old' };
  expect(broken([kernel('sm_90a')], stale)).toEqual([`no kernel matches the rule ${JSON.stringify(stale)}`]);
});
