// Reads what CUDA's tools say of compiled kernels: `ptxas -v` (registers, spills, memory) and `cuobjdump --dump-sass`.

import { countInstructions, type InstructionCounts, type KernelResources } from './kernel-code.js';

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

/** Instructions by target and symbol. Predicates (`@!P0`) are not part of a mnemonic, modifiers (`.F32`) are. */
export function parseSass(disassembly: string): ReadonlyMap<string, InstructionCounts> {
  const byTarget = new Map<string, InstructionCounts>();
  for (const part of disassembly.split(/^\s*code for (?=sm_)/m).slice(1)) {
    const target = /^sm_\w+/.exec(part)?.[0] ?? '';
    byTarget.set(
      target,
      countInstructions(part.split('\n'), {
        symbol: /^\s*Function : (\S+)/,
        mnemonic: /^\s+\/\*[0-9a-f]{4,}\*\/\s+(?:@!?U?P\w+ +)?([A-Z][\w.]*)/,
      }),
    );
  }
  return byTarget;
}
