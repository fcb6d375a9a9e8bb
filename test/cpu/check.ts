// Estimates the cycles of the CPU backend's hot loops, in the objects that the addon is linked from, and compares them with
// native/src/backends/cpu/hot-loops.md: `tsx test/cpu/check.ts [BUILD_FOLDER]`. With `--write` it writes the table instead. What
// another compiler makes of the loops cannot be compared: then it says so and checks nothing.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { shortName } from '../gpu/kernel-table.js';
import { asRegion, countOf, hottestLoop, parseDisassembly, type CompiledFunction } from './disassembly.js';
import { hotLoops, type HotLoop } from './hot-loops.js';
import { changedLoops, parseLoopTable, renderLoopTable, type LoopEstimate } from './loop-table.js';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const llvm = '/usr/lib/llvm-19/bin';
const iterations = 200;
const page = 'native/src/backends/cpu/hot-loops.md';
const writes = process.argv.includes('--write');
const build = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? 'native/build';

const outputOf = (program: string, args: readonly string[], input = ''): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    input,
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'inherit'],
  });

/** Compiler and estimator, as far as their figures depend on them. */
function toolsOf(): string {
  const compiler = /^CMAKE_CXX_COMPILER:\w+=(.+)$/m.exec(
    readFileSync(`${build}/CMakeCache.txt`, 'utf8'),
  )?.[1];
  const name = outputOf(compiler ?? 'c++', ['--version']).split('\n')[0] ?? '';
  const kind = /clang/i.test(name) ? 'clang' : 'GCC';
  const [major, minor] = outputOf(compiler ?? 'c++', ['-dumpfullversion', '-dumpversion']).split('.');
  const estimator = /LLVM version ([\d.]+)/.exec(outputOf(`${llvm}/llvm-mca`, ['--version']))?.[1] ?? '?';
  return `${kind} ${major ?? '?'}.${minor ?? '?'} on ${process.arch} and llvm-mca ${estimator}`;
}

/** Of one object, by short name with the weights' types spelled out. */
function functionsOf(object: string): ReadonlyMap<string, CompiledFunction[]> {
  const text = outputOf(`${llvm}/llvm-objdump`, ['-d', '-C', '--no-show-raw-insn', object]);
  const types =
    /enum class DType[^{]*\{([^}]*)\}/.exec(readFileSync('native/src/ops/matrix.h', 'utf8'))?.[1] ?? '';
  const typeNames = types.split(',').map((name) => name.trim());
  const byName = new Map<string, CompiledFunction[]>();
  for (const compiled of parseDisassembly(text)) {
    const name = shortName(
      compiled.name.replaceAll(
        /\(llmservice::DType\)(\d+)/g,
        (all, number) => typeNames[Number(number)] ?? all,
      ),
    );
    byName.set(name, [...(byName.get(name) ?? []), compiled]);
  }
  return byName;
}

/** Cycles of an iteration of each region, all for one CPU. */
function cyclesOf(cpu: string, regions: readonly string[]): number[] {
  const program = `\t.text\n.Lbegin:\n${regions.join('')}`;
  const report = outputOf(
    `${llvm}/llvm-mca`,
    ['-mtriple=x86_64-unknown-linux-gnu', `-mcpu=${cpu}`, `-iterations=${iterations}`, '-json'],
    program,
  );
  const { CodeRegions } = JSON.parse(report) as {
    CodeRegions: { SummaryView: { TotalCycles: number } }[];
  };
  return CodeRegions.map(({ SummaryView }) => SummaryView.TotalCycles / iterations);
}

function estimate(loops: readonly HotLoop[], problems: string[]): LoopEstimate[] {
  const objectOf = (source: string): string =>
    `${build}/CMakeFiles/llmservice_engine.dir/src/backends/cpu/${source}.cpp.o`;
  const sources = [...new Set(loops.map(({ source }) => source))];
  const objects = new Map(sources.map((source) => [source, functionsOf(objectOf(source))]));
  const found = loops.flatMap((hot, index) => {
    const functions = [...objects.get(hot.source)!].filter(([name]) => name.startsWith(hot.in));
    const loop = hottestLoop(
      functions.flatMap(([, compiled]) => compiled),
      hot.work,
    );
    if (loop !== null) return [{ hot, loop, region: asRegion(`r${index}`, loop) }];
    problems.push(`${hot.family}, ${hot.name}: ${hot.in} in ${hot.source}.cpp has no such loop any more`);
    return [];
  });
  return [...new Set(found.map(({ hot }) => hot.cpu))].flatMap((cpu) => {
    const here = found.filter(({ hot }) => hot.cpu === cpu);
    const cycles = cyclesOf(
      cpu,
      here.map(({ region }) => region),
    );
    return here.map(({ hot: { family, name, work }, loop }, index): LoopEstimate => ({
      family,
      cpu,
      name,
      instructions: loop.length,
      work: countOf(loop, work),
      cycles: cycles[index]!,
    }));
  });
}

/** @returns problems; null where the tools are not those of the table */
function check(): string[] | null {
  if (!existsSync(`${build}/build.ninja`))
    return [`${build} holds no build: run \`npm run build:native\` first`];
  const sources = [...new Set(hotLoops.map(({ source }) => source))];
  // What is newer than its object is compiled first.
  outputOf('ninja', [
    '-C',
    build,
    ...sources.map((source) => `CMakeFiles/llmservice_engine.dir/src/backends/cpu/${source}.cpp.o`),
  ]);
  const problems: string[] = [];
  const tools = toolsOf();
  const stored = parseLoopTable(existsSync(page) ? readFileSync(page, 'utf8') : '');
  if (!writes && tools !== stored.tools) {
    console.log(`skipped: the estimates are of ${stored.tools}, and this machine has ${tools}`);
    return null;
  }
  const loops = estimate(hotLoops, problems);
  console.log(`${loops.length} loops of ${sources.length} files, ${tools}`);
  if (writes) writeFileSync(page, renderLoopTable(loops, tools));
  const changes = writes ? [] : changedLoops(stored.loops, loops);
  if (changes.length > 0) changes.push(`where that is meant, \`make hot-loops\` writes ${page}`);
  return [...problems, ...changes];
}

const startedAt = Date.now();
const problems = check();
if (problems === null) process.exit(77); // counts as skipped
problems.forEach((problem) => console.error(problem));
console.log(
  `took ${((Date.now() - startedAt) / 1000).toFixed(1)} s: ${problems.length === 0 ? 'as stored' : 'not as stored'}`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
