// Compiles every kernel for every GPU and links both vendors' libraries, then holds what came out against the rules
// (native/src/backends/gpu/kernels.rules.json) and against the table (kernels.md beside them): `tsx test/gpu/check.ts`.
// With `--write` it writes the table instead, and of which content it is (kernels.record.json). With `--quick` it compiles for
// one GPU of each vendor, of the kernel files those that are not of that content and a few others, and compares their rows;
// with both, it writes of which content these rows are too.
// No GPU is needed. Nothing is compiled twice from the same content.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

import { cudaKernels, hipKernels, outputOf } from './compiled-kernels.js';
import type { KernelCode } from './kernel-code.js';
import { digestOfKernels, readRecord } from './kernel-record.js';
import { brokenRules, isStale, type KernelRule, type NamedKernel } from './kernel-rules.js';
import { filesOf, renderTable, rowsOf, sectionsOf, shortName, type KernelFile } from './kernel-table.js';

const quick = process.argv.includes('--quick');
const quickTargets = ['sm_90a', 'gfx942'];
const cudaTargets = quick ? ['sm_90a'] : ['sm_80', 'sm_89', 'sm_90a', 'sm_100'];
const hipTargets = quick ? ['gfx942'] : ['gfx90a', 'gfx942'];
/** Compiled each time: plain rows, and products on matrix instructions. */
const samples = ['matmul.cu', 'rows.cu'];
const targets = [...cudaTargets, ...hipTargets];

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const backend = 'native/src/backends/gpu';
const build = '.build/gpu';
const cuda = '.build/cuda';
const hip = '.build/hip';

function run(program: string, ...args: readonly string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

async function demangle(symbols: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = (await outputOf('c++filt', symbols)).trimEnd().split('\n');
  return new Map(symbols.map((symbol, index) => [symbol, names[index] ?? symbol]));
}

async function compiledFile(file: string): Promise<KernelFile> {
  const vendors: KernelCode[][] = await Promise.all([
    cudaKernels(`${build}/cuda/${file}.o`, cuda),
    hipKernels(`${build}/hip/${file}.o`, hipTargets),
  ]);
  const compiled = vendors.flat();
  const names = await demangle(compiled.map((kernel) => kernel.symbol));
  const named = compiled.map((kernel): NamedKernel => ({
    ...kernel,
    name: shortName(names.get(kernel.symbol) ?? kernel.symbol),
  }));
  return { file, kernels: named };
}

/** Loads a library, on a machine that need not have its GPU: what it says that it has code for. */
async function targetsOf(library: string): Promise<string> {
  const ask =
    'import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).llmservice_gpu_targets; f.restype = ctypes.c_char_p; print(f().decode())';
  return (await outputOf('python3', ['-c', ask, `${build}/${library}.so`])).trim();
}

/** Shows where the table is not what it was, of those rows that were made. */
function tableDiffers(table: string): boolean {
  mkdirSync(build, { recursive: true });
  writeFileSync(`${build}/kernels.md`, table);
  const rows = rowsOf(readTable(), targets);
  writeFileSync(`${build}/kernels.expected.md`, isEach ? rows : sectionsOf(rows, chosen));
  const both = [`${build}/kernels.expected.md`, `${build}/kernels.md`];
  return spawnSync('diff', ['-u', ...both], { stdio: 'inherit' }).status !== 0;
}

const startedAt = Date.now();
run(
  'cmake',
  '-S',
  'native',
  '-B',
  build,
  '-G',
  'Ninja',
  '-DGPU_CUDA=ON',
  '-DGPU_HIP=ON',
  `-DGPU_CUDA_TARGETS=${cudaTargets.join(';')}`,
  `-DGPU_HIP_TARGETS=${hipTargets.join(';')}`,
  '--log-level=WARNING',
);
const sources = readdirSync(`${backend}/kernels`).filter((name) => name.endsWith('.cu'));
const versions = await Promise.all([
  outputOf(`${cuda}/bin/nvcc`, ['--version']).then((text) => `CUDA ${/V([\d.]+)/.exec(text)?.[1] ?? '?'}`),
  outputOf('/usr/lib/llvm-19/bin/clang', ['--version']).then(
    (text) => `clang ${/[\d.]+/.exec(text)?.[0] ?? '?'}`,
  ),
]);
const readTable = (): string => readFileSync(`${backend}/kernels.md`, 'utf8');
const recordFile = `${backend}/kernels.record.json`;
/** Of the table as it is now. */
const digests = (): Record<string, string> => {
  const rows = rowsOf(readTable(), quickTargets);
  const compilers = [...versions, ...[cuda, hip].map((folder) => readFileSync(`${folder}/made-of`, 'utf8'))];
  return Object.fromEntries(
    sources.map((name) => [
      name,
      digestOfKernels(`${backend}/kernels/${name}`, sectionsOf(rows, [name]), compilers),
    ]),
  );
};
const recorded = readRecord(recordFile);
const current = digests();
const chosen = sources
  .filter((name) => !quick || samples.includes(name) || recorded[name] !== current[name])
  .sort();
const isEach = chosen.length === sources.length;
const built = isEach
  ? ['llmservice_cuda', 'llmservice_hip']
  : [
      ...['llmservice_cuda_host', 'llmservice_hip_host'],
      ...chosen.flatMap((name) => [`cuda/${name}.o`, `hip/${name}.o`]),
    ];
run('ninja', '-C', build, '-j', String(availableParallelism()), ...built);

const files: KernelFile[] = [];
// In turn: a disassembly can take hundreds of megabytes.
for (const source of chosen) files.push(await compiledFile(source));
const kernels = files.flatMap((file) => file.kernels);
const table = renderTable(files, targets, versions);
const allRules = JSON.parse(readFileSync(`${backend}/kernels.rules.json`, 'utf8')) as KernelRule[];
/** Without those of targets and files that are left out, which would be stale. */
const rules = allRules.filter(
  (rule) =>
    !quick ||
    (targets.some((each) => new RegExp(rule.target ?? '').test(each)) && (isEach || !isStale(rule, kernels))),
);

const problems = brokenRules(kernels, rules, targets);
const libraries = [
  ['llmservice_cuda', [...cudaTargets, cudaTargets.at(-1)!.replace('sm_', 'compute_')].join(' ')],
  ['llmservice_hip', hipTargets.join(' ')],
] as const;
for (const [library, expected] of isEach ? libraries : []) {
  const said = await targetsOf(library);
  if (said !== expected)
    problems.push(`${library}.so says that it has code for ${said}, not for ${expected}`);
}
const write = process.argv.includes('--write');
if (write && !quick) writeFileSync(`${backend}/kernels.md`, table);
else if (tableDiffers(table))
  problems.push(`${backend}/kernels.md is not what comes out now: run \`make kernels\``);
const gone = filesOf(readTable()).filter((name) => !sources.includes(name));
for (const name of gone) problems.push(`${backend}/kernels.md has rows of ${name}, which is not there`);
if (write && problems.length === 0) writeFileSync(recordFile, `${JSON.stringify(digests(), null, 2)}\n`);
problems.forEach((problem) => console.error(problem));

const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
const names = new Set(kernels.map((kernel) => kernel.name));
console.log(
  `${names.size} kernels of ${chosen.length} of ${sources.length} files × ${targets.length} targets in ${seconds} s: ${problems.length === 0 ? 'as they should be' : `${problems.length} problems`}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
