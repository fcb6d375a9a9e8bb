import { expect, test } from '@jest/globals';
import { changedLoops, parseLoopTable, renderLoopTable, type LoopEstimate } from './loop-table.js';

const product: LoopEstimate = {
  family: 'avx512',
  cpu: 'skylake-avx512',
  name: 'product of 6 rows, FP8',
  instructions: 39,
  work: 24,
  cycles: 12.09,
};
const softmax: LoopEstimate = { ...product, name: 'softmax', instructions: 47, work: 9, cycles: 16.61 };
const other: LoopEstimate = { ...softmax, family: 'avx2', cpu: 'haswell' };

test('a table reads as what it was made of', () => {
  const table = renderLoopTable([other, product, softmax], 'GCC 12.2 on x64 and llvm-mca 19.1.7');
  expect(parseLoopTable(table)).toEqual({
    tools: 'GCC 12.2 on x64 and llvm-mca 19.1.7',
    loops: [other, product, softmax],
  });
});

test('changes within five percent do not count', () => {
  expect(changedLoops([product], [{ ...product, cycles: 12.6 }])).toEqual([]);
  expect(changedLoops([product], [{ ...product, cycles: 11.6 }])).toEqual([]);
});

test('a slower loop is named, and a faster one', () => {
  const now = [{ ...product, cycles: 13.3, instructions: 41 }, { ...softmax, cycles: 14 }, other];
  expect(changedLoops([product, softmax, other], now)).toEqual([
    'avx512, product of 6 rows, FP8: 10.0 % slower: 0.504 to 0.554 cycles each, 39 to 41 instructions',
    'avx512, softmax: 15.7 % faster: 1.846 to 1.556 cycles each, 47 to 47 instructions',
  ]);
});

test('a loop unrolled twice is as fast as before', () => {
  expect(changedLoops([product], [{ ...product, instructions: 76, work: 48, cycles: 24.1 }])).toEqual([]);
});

test('loops that came or went are named', () => {
  expect(changedLoops([product], [softmax])).toEqual([
    'avx512, softmax: is not in the table',
    'avx512, product of 6 rows, FP8: is in the table, but not among the loops',
  ]);
});
