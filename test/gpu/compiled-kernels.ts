// Takes apart what native/gpu.cmake compiled: the kernels of one object file, for every target that it has code for.

import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';

import { parsePtxasReport, parseSass } from './cuda-code.js';
import { parseCodeObjectNotes, parseObjdump } from './hip-code.js';
import type { KernelCode, KernelProgram, KernelResources } from './kernel-code.js';

const execute = promisify(execFile);
const llvm = '/usr/lib/llvm-19/bin';

/** What a program prints. */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  return (await execute(program, args, { maxBuffer: 2 ** 30 })).stdout;
}

/** The kernels of an object that nvcc wrote, with the compiler's report beside it. */
export async function cudaKernels(object: string, toolchain: string): Promise<KernelCode[]> {
  const [report, disassembly] = await Promise.all([
    readFile(`${object}.log`, 'utf8'),
    outputOf(`${toolchain}/bin/cuobjdump`, ['--dump-sass', object]),
  ]);
  const sass = parseSass(disassembly);
  return parsePtxasReport(report).map((kernel) => withProgram(kernel, sass.get(kernel.target)));
}

/** The kernels of an object that clang wrote: its section .hip_fatbin holds one code object per target. */
export async function hipKernels(object: string, targets: readonly string[]): Promise<KernelCode[]> {
  const bundle = `${object}.bundle`;
  await outputOf('objcopy', [
    '--output-target=binary',
    '--only-section=.hip_fatbin',
    '--set-section-flags=.hip_fatbin=alloc',
    object,
    bundle,
  ]);
  const kernels = await Promise.all(targets.map((target) => kernelsOfBundle(bundle, target)));
  await rm(bundle);
  return kernels.flat();
}

async function kernelsOfBundle(bundle: string, target: string): Promise<KernelCode[]> {
  const codeObject = `${bundle}.${target}`;
  await outputOf(`${llvm}/clang-offload-bundler`, [
    '--unbundle',
    '--type=o',
    `--input=${bundle}`,
    `--targets=hipv4-amdgcn-amd-amdhsa--${target}`,
    `--output=${codeObject}`,
  ]);
  const [notes, disassembly] = await Promise.all([
    outputOf(`${llvm}/llvm-readelf`, ['--notes', codeObject]),
    outputOf(`${llvm}/llvm-objdump`, ['-d', codeObject]),
  ]);
  await rm(codeObject);
  const programs = parseObjdump(disassembly);
  return parseCodeObjectNotes(notes).map((kernel) => withProgram(kernel, programs));
}

function withProgram(
  kernel: KernelResources,
  programs: ReadonlyMap<string, KernelProgram> | undefined,
): KernelCode {
  const program = programs?.get(kernel.symbol);
  if (program === undefined) throw new Error(`${kernel.symbol} for ${kernel.target} has no instructions`);
  return { ...kernel, ...program, hotLocals: kernel.stackBytes > 0 ? program.hotLocals : 0 };
}
