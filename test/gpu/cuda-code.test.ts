// Against what CUDA 13.0's ptxas and 13.2's cuobjdump wrote, shortened.

import { expect, test } from '@jest/globals';
import { parsePtxasReport, parseSass } from './cuda-code.js';

const report = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN3gpu7spillerEPfPKfi' for 'sm_80'
ptxas info    : Function properties for _ZN3gpu7spillerEPfPKfi
    1864 bytes stack frame, 4064 bytes spill stores, 4212 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 1864 bytes cumulative stack size, 372 bytes cmem[0]
ptxas info    : Compile time = 162.154 ms
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN3gpu10scale_rowsILi64ELb1EEEvPfPKfi' for 'sm_90a'
ptxas info    : Function properties for _ZN3gpu10scale_rowsILi64ELb1EEEvPfPKfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 256 bytes smem
ptxas info    : Compile time = 1.148 ms
`;

test('registers, spills and memory of every kernel and target', () => {
  const common = { accumulators: 0, scalars: 0 };
  expect(parsePtxasReport(report)).toEqual([
    {
      ...common,
      symbol: '_ZN3gpu7spillerEPfPKfi',
      target: 'sm_80',
      registers: 64,
      spillBytes: 4064,
      stackBytes: 1864,
      sharedBytes: 0,
    },
    {
      ...common,
      symbol: '_ZN3gpu10scale_rowsILi64ELb1EEEvPfPKfi',
      target: 'sm_90a',
      registers: 12,
      spillBytes: 0,
      stackBytes: 0,
      sharedBytes: 256,
    },
  ]);
});

test('a report that is cut short is refused, not read as zeros', () => {
  expect(() => parsePtxasReport(report.slice(0, report.indexOf('Used 64')))).toThrow('not a report of ptxas');
});

const sass = `
Fatbin elf code:
================
arch = sm_80
code version = [1,8]
host = linux
compile_size = 64bit

	code for sm_80
	.target	sm_80

		Function : _ZN3gpu3mmaEPfPKjS2_
	.headerflags	@"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;                    /* 0x00000a0000017a02 */
                                                                             /* 0x000fe40000000f00 */
        /*00c0*/                   HMMA.16816.F32.BF16 R8, R8, R6, RZ ;      /* 0x000000060808723c */
        /*00d0*/               @P0 EXIT ;                                    /* 0x000000000000094d */
        /*00e0*/              @!P0 BRA 0x1f0 ;                               /* 0x000000c000008947 */
        /*00f0*/                   HMMA.16816.F32.BF16 R8, R8, R6, RZ ;      /* 0x000000060808723c */
        /*10100*/                  EXIT ;                                    /* 0x000000000000794d */
		..........

	code for sm_90a
	.target	sm_90a

		Function : _Z5othersv
        /*0000*/             @!UP0 UBLKCP.S.G [UR8], [UR6], UR4 ;            /* 0x00000004060003ba */
        /*0010*/                   QGMMA.64x128x32.F32.E4M3.E4M3 R24, gdesc[UR4], RZ ; /* 0x01e00000041879f3 */
`;

test('instructions by target and kernel, without their predicates', () => {
  const parsed = parseSass(sass);
  expect([...parsed.keys()]).toEqual(['sm_80', 'sm_90a']);
  expect(Object.fromEntries(parsed.get('sm_80')?.get('_ZN3gpu3mmaEPfPKjS2_')?.instructions ?? [])).toEqual({
    MOV: 1,
    'HMMA.16816.F32.BF16': 2,
    EXIT: 2,
    BRA: 1,
  });
  expect(Object.fromEntries(parsed.get('sm_90a')?.get('_Z5othersv')?.instructions ?? [])).toEqual({
    'UBLKCP.S.G': 1,
    'QGMMA.64x128x32.F32.E4M3.E4M3': 1,
  });
});

const line = (address: string, text: string): string =>
  `        /*${address}*/     ${text} ;   /* 0x000000000000794d */`;
const loops = `
	code for sm_90a
		Function : _Z5loopsv
${[
  ['0000', 'STL [R1], R2'],
  ['0010', 'LDL R3, [R1]'], // the outer loop's head
  ['0020', 'LDL.LU R4, [R1+0x4]'], // the inner one's
  ['0030', 'HMMA.16816.F32.BF16 R8, R8, R6, RZ'],
  ['0040', '@P0 BRA 0x20'],
  ['0050', 'STL [R1+0x8], R2'],
  ['0060', '@!P1 BRA 0x10'],
  ['0070', 'LDL R5, [R1+0x8]'],
  ['0080', 'BRA 0x80'],
]
  .map(([address = '', text = '']) => line(address, text))
  .join('\n')}
`;

test.each([
  ['within the loop of the products alone', loops, 1],
  ['in every loop where there are no products', loops.replace('HMMA', 'FFMA'), 3],
  ['nowhere without loops', loops.replaceAll(/BRA .*? ;/g, 'NOP ;'), 0],
])('local memory is hot %s', (_name, disassembly, hot) => {
  expect(parseSass(disassembly).get('sm_90a')?.get('_Z5loopsv')?.hotLocals).toBe(hot);
});
