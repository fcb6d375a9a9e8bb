// Reads what LLVM's tools say of an AMD code object: `llvm-readelf --notes` (registers, spills, memory) and
// `llvm-objdump -d`. Metadata keys: LLVM's "User Guide for AMDGPU Backend", Code Object V5 Metadata.

import { readPrograms, type KernelProgram, type KernelResources } from './kernel-code.js';

/** The kernels of one code object. @throws where a kernel's metadata is not whole. */
export function parseCodeObjectNotes(notes: string): KernelResources[] {
  const target = /^amdhsa\.target:\s+'?amdgcn-amd-amdhsa--([\w:+-]+)/m.exec(notes)?.[1];
  if (target === undefined) throw new Error('the notes of the code object name no target');
  return notes
    .split(/^ {2}- (?=\.)/m)
    .slice(1)
    .map((kernel) => {
      // Of the kernel itself, not of its arguments, which are indented further.
      const value = (key: string): string => {
        const found = new RegExp(`^(?: {4})?\\.${key}:\\s+(\\S+)`, 'm').exec(kernel)?.[1];
        if (found === undefined) throw new Error(`a kernel for ${target} has no .${key}`);
        return found;
      };
      const count = (key: string): number => Number(value(key));
      return {
        symbol: value('name').replace(/^'(.*)'$/, '$1'),
        target,
        registers: count('vgpr_count'),
        accumulators: count('agpr_count'),
        scalars: count('sgpr_count'),
        spillBytes: 4 * (count('vgpr_spill_count') + count('sgpr_spill_count')),
        stackBytes: count('private_segment_fixed_size'),
        sharedBytes: count('group_segment_fixed_size'),
      };
    });
}

const instruction = /^\t([a-z]\w+).*\/\/ ([0-9A-F]+):[^<]*(?:<.*\+0x([0-9a-f]+)>)?/;

/** Functions by symbol; encodings (`_e32`) are part of a mnemonic. */
export function parseObjdump(disassembly: string): ReadonlyMap<string, KernelProgram> {
  let start = 0;
  return readPrograms(disassembly.split('\n'), {
    symbol: (line) => {
      const [, address, symbol] = /^([0-9a-f]+) <([^>]+)>:/.exec(line) ?? [];
      if (address !== undefined) start = parseInt(address, 16);
      return symbol;
    },
    instruction: (line) => {
      const [, mnemonic, address = '', to] = instruction.exec(line) ?? [];
      if (mnemonic === undefined) return undefined;
      const branchTo = to !== undefined && /branch/.test(mnemonic) ? parseInt(to, 16) : null;
      return { address: parseInt(address, 16) - start, mnemonic, branchTo };
    },
  });
}
