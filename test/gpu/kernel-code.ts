// What a compiled kernel takes of one processor, in the same terms for both vendors.

import { hotLocals, type Instruction } from './hot-loops.js';

/** A kernel compiled for one target. Sizes are per thread, shared memory per block. */
export interface KernelCode {
  /** Mangled; demangled and shortened where it is shown. */
  readonly symbol: string;
  /** `sm_90a`, `gfx942`, … */
  readonly target: string;
  /** 32-bit registers; on AMD VGPRs and AGPRs together, which share one file. */
  readonly registers: number;
  /** Of those, AMD's accumulation registers; 0 on NVIDIA. */
  readonly accumulators: number;
  /** AMD's registers that a wave shares; 0 on NVIDIA, where they do not limit anything. */
  readonly scalars: number;
  /** Registers kept in memory because there were too few. */
  readonly spillBytes: number;
  /** Local memory: spills, and arrays that are indexed by what is not known at compile time. */
  readonly stackBytes: number;
  readonly sharedBytes: number;
  /** How many instructions it has of each mnemonic. */
  readonly instructions: ReadonlyMap<string, number>;
  /** Of those, reads and writes of local memory in the loops that it spends its time in. */
  readonly hotLocals: number;
}

/** What a disassembly shows of a kernel. */
export type KernelProgram = Pick<KernelCode, 'instructions' | 'hotLocals'>;

/** What a compiler or a code object reports of it. */
export type KernelResources = Omit<KernelCode, keyof KernelProgram>;

// Warps or waves that one scheduler can hold, whatever their registers. CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability": warps per multiprocessor, a fourth; CDNA ISA documents: waves per SIMD.
const maxWaves: Readonly<Record<string, number>> = {
  sm_80: 16,
  sm_89: 12,
  sm_90a: 16,
  sm_100: 16,
  gfx90a: 8,
  gfx942: 8,
};

/** Warps (waves) that the registers leave room for on one scheduler (SIMD): 512 registers a lane, given out by 8. */
export function wavesOf(code: KernelResources): number {
  const most = maxWaves[code.target];
  if (most === undefined) throw new Error(`how many waves fit on ${code.target} is not written down`);
  return Math.min(most, Math.floor(512 / Math.max(8, Math.ceil(code.registers / 8) * 8)));
}

/** What a line of a disassembly stands for. */
export interface Listing {
  /** The function that starts there. */
  readonly symbol: (line: string) => string | undefined;
  readonly instruction: (line: string) => Instruction | undefined;
}

/** The functions of a disassembly by symbol. */
export function readPrograms(lines: Iterable<string>, listing: Listing): ReadonlyMap<string, KernelProgram> {
  const functions = new Map<string, Instruction[]>();
  let current: Instruction[] | undefined;
  for (const line of lines) {
    const symbol = listing.symbol(line);
    if (symbol === undefined) {
      const instruction = listing.instruction(line);
      if (instruction !== undefined) current?.push(instruction);
    } else {
      current = [];
      functions.set(symbol, current);
    }
  }
  return new Map([...functions].map(([symbol, code]) => [symbol, programOf(code)]));
}

function programOf(code: readonly Instruction[]): KernelProgram {
  const instructions = new Map<string, number>();
  for (const { mnemonic } of code) instructions.set(mnemonic, (instructions.get(mnemonic) ?? 0) + 1);
  return { instructions, hotLocals: hotLocals(code) };
}
