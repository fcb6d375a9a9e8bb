// Reads what `llvm-objdump -d -C --no-show-raw-insn` prints of x86-64 code: its functions, and the loops within them.

/** One instruction of a function. */
interface Instruction {
  readonly address: number;
  readonly mnemonic: string;
  /** As AT&T syntax has them, without comments. */
  readonly operands: string;
  /** Where a jump within the function goes; null of what is none. */
  readonly jumpTo: number | null;
}

/** A function as compiled: one of several, where the compiler specialized it. */
export interface CompiledFunction {
  /** Demangled, with its parameters. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

export function parseDisassembly(text: string): CompiledFunction[] {
  const functions: { name: string; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n')) {
    const name = /^[\da-f]+ <(.*)>:$/.exec(line)?.[1];
    if (name !== undefined) functions.push({ name, instructions: [] });
    const [, address, mnemonic, rest = ''] = /^\s+([\da-f]+):\s+([a-z]\w*)(?:\s+(.*))?$/.exec(line) ?? [];
    if (address === undefined || mnemonic === undefined) continue;
    const operands = rest.replace(/\s+#.*$/, '').trim();
    const target = mnemonic.startsWith('j') ? /^0x([\da-f]+) </.exec(operands)?.[1] : undefined;
    functions.at(-1)?.instructions.push({
      address: parseInt(address, 16),
      mnemonic,
      operands,
      jumpTo: target === undefined ? null : parseInt(target, 16),
    });
  }
  return functions;
}

export type Loop = readonly Instruction[];

/**
 * Loops without a loop within: from where a jump goes back to, to the last jump that does. Without those that call or return
 * in between: there the compiler put code of before or after the loop into its middle.
 */
export function innermostLoops({ instructions }: CompiledFunction): Loop[] {
  const begin = instructions[0]?.address ?? 0;
  const ends = new Map<number, number>();
  for (const { address, jumpTo } of instructions) {
    // A call's place is zero until the linker fills it in: such a jump seems to go back to the section's begin.
    if (jumpTo !== null && jumpTo <= address && jumpTo >= begin) ends.set(jumpTo, address);
  }
  const loops = [...ends];
  const holdsAnother = ([head, end]: readonly [number, number]): boolean =>
    loops.some(([other, otherEnd]) => other !== head && head <= other && otherEnd <= end);
  return loops
    .filter((loop) => !holdsAnother(loop))
    .map(([head, end]) => instructions.filter(({ address }) => head <= address && address <= end))
    .filter((loop) => !loop.some(({ mnemonic }) => /^(?:call|ret)q?$/.test(mnemonic)));
}

/** How many instructions of a loop are those that it is there for. */
export function countOf(loop: Loop, work: RegExp): number {
  return loop.filter(({ mnemonic }) => work.test(mnemonic)).length;
}

/**
 * The loop with the largest share of work, of equals the shortest. The compiler also makes loops for remainders, which do
 * less, and lays out alternatives in one that holds them all: the former do not count. Null where no loop does any.
 */
export function hottestLoop(functions: readonly CompiledFunction[], work: RegExp): Loop | null {
  const loops = functions.flatMap(innermostLoops).map((loop) => ({ loop, count: countOf(loop, work) }));
  const largest = Math.max(0, ...loops.map(({ count }) => count));
  const [hottest] = loops
    .filter(({ count }) => count > 0 && count >= largest / 2)
    .sort((a, b) => b.count / b.loop.length - a.count / a.loop.length || a.loop.length - b.loop.length);
  return hottest?.loop ?? null;
}

// LLVM's models of CPUs that have it give a dot product of pairs two or three times the cycles of a float32 multiply-add.
// Measured (`llmservice_bench products`, Zen 4 and Zen 5), both are issued at the same rate.
const estimatedAs: Readonly<Record<string, string>> = { vdpbf16ps: 'vfmadd231ps' };

/** The loop as llvm-mca takes it, between its marks. Where jumps go makes no difference to it. */
export function asRegion(name: string, loop: Loop): string {
  const lines = loop.map(({ mnemonic, operands, jumpTo }) =>
    jumpTo === null ? `\t${estimatedAs[mnemonic] ?? mnemonic}\t${operands}` : `\t${mnemonic}\t.Lbegin`,
  );
  return `# LLVM-MCA-BEGIN ${name}\n${lines.join('\n')}\n# LLVM-MCA-END\n`;
}
