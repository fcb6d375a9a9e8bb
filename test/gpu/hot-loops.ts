// Where a kernel touches local memory: what lies outside of the loops that it spends its time in costs nothing.

/** One instruction of a disassembled function. */
export interface Instruction {
  readonly address: number;
  readonly mnemonic: string;
  /** Where it continues instead, if it does; null of what is no branch. */
  readonly branchTo: number | null;
}

/** NVIDIA's by generation (mma, wgmma, tcgen05), AMD's mfma. */
export const matrixInstruction = /^(?:[HIQOBD]G?MMA\b|UTC\w*MMA|v_s?mfmac?_)/;
// gfx90a reaches local memory by buffer instructions. Kernels read weights by them too: those would be counted where a
// kernel has local memory at all.
const localInstruction = /^(?:(?:LDL|STL)\b|scratch_(?:load|store)|buffer_(?:load|store))/;

/**
 * Reads and writes of local memory in the loops that matrix instructions run in, or, of a kernel without any, in all
 * loops. A loop reaches from where a branch goes back to, to the last branch that does; an instruction is in the smallest.
 */
export function hotLocals(code: readonly Instruction[]): number {
  const ends = new Map<number, number>();
  for (const { address, branchTo } of code) {
    // Behind the last instruction stand branches to themselves.
    if (branchTo !== null && branchTo < address) ends.set(branchTo, address);
  }
  const loops = [...ends].sort(([a, aEnd], [b, bEnd]) => aEnd - a - (bEnd - b));
  const loopOf = ({ address }: Instruction): number | undefined =>
    loops.find(([head, end]) => head <= address && address <= end)?.[0];
  const matrix = code.filter(({ mnemonic }) => matrixInstruction.test(mnemonic));
  const hot = new Set(matrix.length > 0 ? matrix.map(loopOf) : ends.keys());
  return code.filter((instruction) => {
    const loop = localInstruction.test(instruction.mnemonic) ? loopOf(instruction) : undefined;
    return loop !== undefined && hot.has(loop);
  }).length;
}
