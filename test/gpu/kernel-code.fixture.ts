// A kernel that takes nothing in particular, for tests to change where they care.

import type { KernelCode } from './kernel-code.js';

export function kernelCode(target: string, changes: Partial<KernelCode> = {}): KernelCode {
  return {
    symbol: '_Z6matmulv',
    target,
    registers: 128,
    accumulators: 0,
    scalars: 0,
    spillBytes: 0,
    stackBytes: 0,
    sharedBytes: 0,
    instructions: new Map(),
    hotLocals: 0,
    ...changes,
  };
}
