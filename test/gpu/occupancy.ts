// How many waves of a kernel a compute unit of AMD's CDNA 3 (gfx942) holds at once: by the registers that the committed
// table of kernels shows, and by what the launches of a step take of local memory.

/** What a wave takes of each register file. */
export interface WaveRegisters {
  readonly vector: number;
  readonly accumulation: number;
  readonly scalar: number;
  /** Bytes of local memory that the kernel itself declares, of a block. */
  readonly sharedBytes: number;
}

export interface BlockShape {
  readonly threads: number;
  /** Bytes of local memory that the launch asks for beside. */
  readonly sharedBytes: number;
}

export interface LaunchedKernel extends BlockShape {
  readonly kernel: string;
  readonly when: string;
}

export type Limit = 'vector registers' | 'scalar registers' | 'local memory' | 'slots';

export interface Occupancy {
  readonly blocks: number;
  /** On average; a block's waves are spread over the four. */
  readonly wavesPerSimd: number;
  readonly limit: Limit;
}

const lanes = 64;
const simds = 4;
const slots = 8;

const roundUp = (value: number, granule: number): number => Math.ceil(value / granule) * granule;

/**
 * LLVM, "User Guide for AMDGPU Backend": on gfx942 vector and accumulation registers share one file, 512 a lane and SIMD,
 * given out by 8, accumulation ones beginning on a multiple of 4; local memory is given out by 512 bytes. CDNA 3 ISA:
 * 64 KiB of it a compute unit, 8 waves a SIMD. LLVM's GCNSubtarget: more than 100 scalar registers leave room for 7.
 */
export function occupancyOf(registers: WaveRegisters, block: BlockShape): Occupancy {
  const waves = Math.ceil(block.threads / lanes);
  const vector = roundUp(roundUp(registers.vector, 4) + registers.accumulation, 8);
  const shared = roundUp(registers.sharedBytes + block.sharedBytes, 512);
  const blocksOf = (perSimd: number): number => Math.floor((simds * perSimd) / waves);
  const limits: readonly (readonly [Limit, number])[] = [
    ['slots', blocksOf(slots)],
    ['scalar registers', blocksOf(registers.scalar > 100 ? 7 : slots)],
    ['vector registers', blocksOf(Math.floor(512 / Math.max(vector, 8)))],
    ['local memory', shared === 0 ? Infinity : Math.floor((64 << 10) / shared)],
  ];
  const [limit, blocks] = limits.reduce((least, next) => (next[1] < least[1] ? next : least));
  return { blocks, wavesPerSimd: (blocks * waves) / simds, limit };
}

/** Rows of kernels.md for gfx942, by kernel. */
export function parseKernelTable(page: string): ReadonlyMap<string, WaveRegisters> {
  const row = /^\| `(.+)` \| gfx942 \| (\d+) v \+ (\d+) a, (\d+) s \| \d+ \| \d+ \| \d+ \| \d+ \| (\d+) \|/gm;
  return new Map(
    [...page.matchAll(row)].map(([, kernel = '', ...figures]) => {
      const [vector = 0, accumulation = 0, scalar = 0, sharedBytes = 0] = figures.map(Number);
      return [kernel, { vector, accumulation, scalar, sharedBytes }];
    }),
  );
}

/** @param table launches.tsv: kernel, threads, bytes of local memory and when it runs, below a line of names */
export function parseLaunches(table: string): LaunchedKernel[] {
  return table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [kernel = '', threads, sharedBytes, when = ''] = line.split('\t');
      return { kernel, threads: Number(threads), sharedBytes: Number(sharedBytes), when };
    });
}
