// Against what LLVM 19's readelf and objdump wrote, shortened.

import { expect, test } from '@jest/globals';
import { parseCodeObjectNotes, parseObjdump } from './hip-code.js';

const kernel = (name: string, first: string): string => `  - .agpr_count:     ${first}
    .args:
      - .address_space:  global
        .name:           out
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 256
    .kernarg_segment_size: 280
    .max_flat_workgroup_size: 1024
    .name:           ${name}
    .private_segment_fixed_size: 1920
    .sgpr_count:     16
    .sgpr_spill_count: 3
    .symbol:         ${name}.kd
    .vgpr_count:     224
    .vgpr_spill_count: 279
    .wavefront_size: 64
`;
const notes = `Displaying notes found in: .note
  Owner                Data size 	Description
  AMDGPU               0x00000e63	NT_AMDGPU_METADATA (AMDGPU Metadata)
    AMDGPU Metadata:
        ---
amdhsa.kernels:
${kernel('_Z3bigPf', '192')}${kernel('_Z5smallPf', '0')}amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
`;

test("registers, spills and memory of every kernel, and not its arguments' names", () => {
  const common = { target: 'gfx942', registers: 224, scalars: 16, stackBytes: 1920, sharedBytes: 256 };
  expect(parseCodeObjectNotes(notes)).toEqual([
    { ...common, symbol: '_Z3bigPf', accumulators: 192, spillBytes: (279 + 3) * 4 },
    { ...common, symbol: '_Z5smallPf', accumulators: 0, spillBytes: (279 + 3) * 4 },
  ]);
});

test('metadata that lacks a figure is refused, not read as zero', () => {
  expect(() => parseCodeObjectNotes(notes.replace(/^ {4}\.vgpr_spill_count.*\n/m, ''))).toThrow(
    'a kernel for gfx942 has no .vgpr_spill_count',
  );
});

test('instructions by kernel', () => {
  const programs = parseObjdump(`
x942.o:	file format elf64-amdgpu

Disassembly of section .text:

0000000000002500 <_ZN3gpu3mmaEPfPKjS2_>:
	s_load_dwordx4 s[0:3], s[4:5], 0x0                         // 000000002500: C00A0002 00000000
	v_mfma_f32_16x16x32_fp8_fp8 v[2:5], v[2:3], v[4:5], 0      // 000000002530: D3F30002 02020902
	s_nop 7                                                    // 000000002538: BF800007
	s_nop 2                                                    // 00000000253C: BF800002
	s_endpgm                                                   // 000000002548: BF810000

0000000000002600 <_Z5smallPf>:
	s_endpgm                                                   // 000000002600: BF810000
`);
  expect(Object.fromEntries(programs.get('_ZN3gpu3mmaEPfPKjS2_')?.instructions ?? [])).toEqual({
    s_load_dwordx4: 1,
    v_mfma_f32_16x16x32_fp8_fp8: 1,
    s_nop: 2,
    s_endpgm: 1,
  });
  expect(Object.fromEntries(programs.get('_Z5smallPf')?.instructions ?? [])).toEqual({ s_endpgm: 1 });
});

test.each([
  ['scratch_store_dword off, v0, s8', 'v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]', 1],
  ['buffer_store_dword v1, v0, s[0:3], 0 offen', 'v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3]', 1],
  ['global_store_dword v[0:1], v2, off', 'v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]', 0],
])('%s within a loop with products', (store, product, hot) => {
  const programs = parseObjdump(`
0000000000002500 <_Z5loopsv>:
	${store}      // 000000002500: E0701000 80000200
	${product}    // 000000002508: D3CD0000 04020D04
	${store}      // 000000002510: E0701000 80000200
	s_cbranch_scc1 65513   // 000000002518: BF85FFE9 <_Z5loopsv+0x8>
	s_endpgm               // 00000000251C: BF810000
`);
  expect(programs.get('_Z5loopsv')?.hotLocals).toBe(hot);
});
