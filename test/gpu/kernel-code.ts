// What a compiled kernel takes of one processor, in the same terms for both vendors.

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
}

/** What a compiler or a code object tells of a kernel, before its instructions are counted. */
export type KernelResources = Omit<KernelCode, 'instructions'>;

/** Mnemonics of each function by symbol. */
export type InstructionCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

// Warps or waves that one scheduler can hold, whatever their registers. CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability": warps per multiprocessor, a fourth; CDNA ISA documents: waves per SIMD.
const mostWaves: Readonly<Record<string, number>> = {
  sm_80: 16,
  sm_89: 12,
  sm_90a: 16,
  sm_100: 16,
  gfx90a: 8,
  gfx942: 8,
};

/** Warps (waves) that the registers leave room for on one scheduler (SIMD): 512 registers a lane, given out by 8. */
export function wavesOf(code: KernelResources): number {
  const most = mostWaves[code.target];
  if (most === undefined) throw new Error(`how many waves fit on ${code.target} is not written down`);
  return Math.min(most, Math.floor(512 / Math.max(8, Math.ceil(code.registers / 8) * 8)));
}

/** Counts mnemonics: `match` gives the symbol of a line that starts a function, or the mnemonic of an instruction. */
export function countInstructions(
  lines: Iterable<string>,
  match: { readonly symbol: RegExp; readonly mnemonic: RegExp },
): InstructionCounts {
  const counts = new Map<string, Map<string, number>>();
  let current: Map<string, number> | undefined;
  for (const line of lines) {
    const symbol = match.symbol.exec(line)?.[1];
    if (symbol !== undefined) {
      current = new Map();
      counts.set(symbol, current);
      continue;
    }
    const mnemonic = match.mnemonic.exec(line)?.[1];
    if (mnemonic !== undefined) current?.set(mnemonic, (current.get(mnemonic) ?? 0) + 1);
  }
  return counts;
}
