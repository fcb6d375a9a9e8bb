// Reads what CUDA's tools say of compiled kernels: `ptxas -v` (registers, spills, memory) and `cuobjdump --dump-sass`.

import { readPrograms, type KernelProgram, type KernelResources } from './kernel-code.js';

const numberBefore = (text: string, unit: RegExp): number =>
  Number(new RegExp(`(\\d+) ${unit.source}`).exec(text)?.[1] ?? 0);

/** The report of `ptxas -v` over any number of kernels and targets. @throws where the report is cut short. */
export function parsePtxasReport(report: string): KernelResources[] {
  const entries = report.split(/^ptxas info\s*: Compiling entry function /m).slice(1);
  return entries.map((entry) => {
    const [, symbol, target] = /^'([^']+)' for '([^']+)'/.exec(entry) ?? [];
    const used = /^ptxas info\s*: Used .*$/m.exec(entry)?.[0];
    if (symbol === undefined || target === undefined || used === undefined) {
      throw new Error(`not a report of ptxas: ${entry.slice(0, 200)}`);
    }
    return {
      symbol,
      target,
      registers: numberBefore(used, /registers/),
      accumulators: 0,
      scalars: 0,
      // What is stored is read back at least once: loads would count it twice.
      spillBytes: numberBefore(entry, /bytes spill stores/),
      stackBytes: numberBefore(entry, /bytes stack frame/),
      sharedBytes: numberBefore(used, /bytes smem/),
    };
  });
}

// Predicates (`@!P0`) are not part of a mnemonic, modifiers (`.F32`) are.
const instruction = /^\s+\/\*([0-9a-f]{4,})\*\/\s+(?:@!?U?P\w+ +)?([A-Z][\w.]*)([^;]*)/;

/** Functions by target and symbol. */
export function parseSass(disassembly: string): ReadonlyMap<string, ReadonlyMap<string, KernelProgram>> {
  const byTarget = new Map<string, ReadonlyMap<string, KernelProgram>>();
  for (const part of disassembly.split(/^\s*code for (?=sm_)/m).slice(1)) {
    const target = /^sm_\w+/.exec(part)?.[0] ?? '';
    byTarget.set(
      target,
      readPrograms(part.split('\n'), {
        symbol: (line) => /^\s*Function : (\S+)/.exec(line)?.[1],
        instruction: (line) => {
          const [, address, mnemonic = '', operands = ''] = instruction.exec(line) ?? [];
          if (address === undefined) return undefined;
          const to = mnemonic.startsWith('BRA') ? /0x[0-9a-f]+/.exec(operands)?.[0] : undefined;
          return { address: parseInt(address, 16), mnemonic, branchTo: to === undefined ? null : Number(to) };
        },
      }),
    );
  }
  return byTarget;
}
