// Of which content a kernel file's rows of kernels.md are (kernels.record.json beside it): what need not be compiled again to
// know its rows. A digest is of the source and all project files that it includes, how it is compiled, the rules that it must
// keep, and the rows themselves.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

const sources = 'native/src/';
/** How kernels are compiled, and rows made of them. */
const recipe = [
  'native/gpu.cmake',
  'native/toolchains/compile.sh',
  ...[
    'cuda-code',
    'hip-code',
    'compiled-kernels',
    'kernel-code',
    'kernel-table',
    'kernel-rules',
    'hot-loops',
  ].map((name) => `test/gpu/${name}.ts`),
];

export type KernelRecord = Readonly<Record<string, string>>;

/** The emulator's, which no GPU's compiler reads. */
const isOfHost = (path: string): boolean => /\/vendor\/(emulator|host|\w+_host)/.test(path);

/** A file and the project files that it includes, directly or not, on whatever condition but that there is no GPU. */
export function includedFiles(path: string, read: (path: string) => string): string[] {
  const seen = new Set<string>();
  const visit = (each: string): void => {
    if (seen.has(each) || isOfHost(each)) return;
    seen.add(each);
    for (const [, name] of read(each).matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) visit(sources + name!);
  };
  visit(path);
  return [...seen].sort();
}

/** @param rows what the table says of the file; `compilers` name what compiles it */
export function digestOfKernels(path: string, rows: string, compilers: readonly string[]): string {
  const hash = createHash('sha256');
  const rules = 'native/src/backends/gpu/kernels.rules.json';
  for (const each of [...recipe, rules, ...includedFiles(path, readText)])
    hash.update(`${each}\0${readText(each)}\0`);
  hash.update(JSON.stringify([rows, compilers]));
  return hash.digest('hex').slice(0, 16);
}

export function readRecord(path: string): KernelRecord {
  return existsSync(path) ? (JSON.parse(readText(path)) as KernelRecord) : {};
}

const readText = (path: string): string => readFileSync(path, 'utf8');
