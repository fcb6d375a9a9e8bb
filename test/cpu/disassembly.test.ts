// Against what LLVM 19's objdump wrote of an object of this project, shortened.

import { expect, test } from '@jest/globals';
import { asRegion, countOf, hottestLoop, innermostLoops, parseDisassembly } from './disassembly.js';
import { multiplyAdds } from './hot-loops.js';

const pass = 'void (anonymous namespace)::multiply_pass<Bf16Pairs, 1, false>(Block const&, long)';
const listing = `
kernels_avx512bf16.cpp.o:	file format elf64-x86-64

Disassembly of section .text:

0000000000000000 <${pass}>:
       0:      	movslq	0x10(%rdi), %rcx
       9:      	jle	0x114 <${pass}+0x114>
      30:      	vpbroadcastd	(%rdx), %zmm0
      36:      	vmovdqu16	(%rax), %zmm5
      3c:      	addq	$0x100, %rax            # imm = 0x100
      54:      	vdpbf16ps	%zmm0, %zmm5, %zmm3
      76:      	jne	0x30 <${pass}+0x30>
      78:      	vmovups	(%rax), %zmm0
     114:      	retq

Disassembly of section .text._Z1f:

0000000000000000 <void f(float*)>:
       0:      	jmp	0x0 <void f(float*)>
       8:      	xorl	%edx, %edx
      10:      	vmovaps	0x8(%rsp), %zmm4
      18:      	vfmadd231ps	0x0(%rip), %zmm4, %zmm1
      20:      	jne	0x18 <void f(float*)+0x18>
      28:      	vfmadd231ps	%ymm4, %ymm2, %ymm1
      2a:      	vfmadd231ps	%ymm4, %ymm2, %ymm3
      30:      	jne	0x28 <void f(float*)+0x28>
      34:      	jne	0x10 <void f(float*)+0x10>
      38:      	vfmadd231ps	%ymm4, %ymm2, %ymm3
      3a:      	vfmadd231ps	%ymm4, %ymm2, %ymm3
      3b:      	vfmadd231ps	%ymm4, %ymm2, %ymm3
      3c:      	vfmadd231ps	%ymm4, %ymm2, %ymm3
      40:      	callq	0x45 <void f(float*)+0x45>
      45:      	jne	0x38 <void f(float*)+0x38>
`;
const [first, second] = parseDisassembly(listing);

test('functions have their instructions, operands without comments, and where they jump to', () => {
  expect(first!.name).toBe(pass);
  expect(first!.instructions).toHaveLength(9);
  expect(first!.instructions[4]).toEqual({
    address: 0x3c,
    mnemonic: 'addq',
    operands: '$0x100, %rax',
    jumpTo: null,
  });
  expect(first!.instructions[6]).toMatchObject({ mnemonic: 'jne', jumpTo: 0x30 });
  expect(second!.instructions.at(-1)!.address).toBe(0x45);
});

test('loops that hold another, or a call, are none of the innermost', () => {
  expect(innermostLoops(first!).map((loop) => [loop[0]!.address, loop.at(-1)!.address])).toEqual([
    [0x30, 0x76],
  ]);
  expect(innermostLoops(second!).map((loop) => loop[0]!.address)).toEqual([0, 0x18, 0x28]);
});

test('the hottest loop has the largest share of work', () => {
  const loop = hottestLoop([first!, second!], multiplyAdds)!;
  expect(loop[0]!.address).toBe(0x28);
  expect(countOf(loop, multiplyAdds)).toBe(2);
  expect(hottestLoop([first!], /^vperm/)).toBeNull();
});

test('a remainder with less than half of the work is not the hottest loop, however dense', () => {
  const body = (address: number, adds: number, others: number): string =>
    [
      ...Array.from({ length: adds }, () => 'vfmadd231ps	%ymm4, %ymm2, %ymm1'),
      ...Array.from({ length: others }, () => 'vmovaps	%ymm4, %ymm5'),
      `jne	0x${address.toString(16)} <g()>`,
    ]
      .map((text, index) => `      ${(address + index).toString(16)}:      	${text}`)
      .join('\n');
  const [g] = parseDisassembly(`0000000000000000 <g()>:\n${body(0x10, 8, 4)}\n${body(0x40, 2, 0)}\n`);
  expect(hottestLoop([g!], multiplyAdds)![0]!.address).toBe(0x10);
});

test('a region for the estimator has its marks, no places to jump to, and multiply-adds for dot products', () => {
  expect(asRegion('r1', innermostLoops(first!)[0]!)).toBe(`# LLVM-MCA-BEGIN r1
	vpbroadcastd	(%rdx), %zmm0
	vmovdqu16	(%rax), %zmm5
	addq	$0x100, %rax
	vfmadd231ps	%zmm0, %zmm5, %zmm3
	jne	.Lbegin
# LLVM-MCA-END
`);
});
