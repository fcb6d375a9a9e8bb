// Fails on source written by hand that is longer than 300 lines, in any language: such a file has two subjects.
// usage: tsx test/file-lengths.ts

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';

const maxLines = 300;

/** What programs are written in; data, pages and lock files may be of any length. */
const extensions = new Set(
  '.ts .js .mjs .cjs .c .h .cc .cpp .cu .cmake .py .go .sh .tpl .gotmpl .html .css'.split(' '),
);
const names = new Set(['CMakeLists.txt', 'Dockerfile', 'Makefile']);

/** By its name, or, as a script without an extension, by its first line. */
function isSource(path: string, text: string): boolean {
  const extension = extname(path);
  return (
    extensions.has(extension) || names.has(basename(path)) || (extension === '' && text.startsWith('#!'))
  );
}

const isGenerated = (text: string): boolean => /^\W*Generated .*Do not edit/.test(text);

const paths = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '');
const lengths = paths.flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  if (!isSource(path, text) || isGenerated(text)) return [];
  return [{ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }];
});
const long = lengths.filter(({ lines }) => lines > maxLines);

for (const { path, lines } of long)
  console.log(`${path}: ${String(lines)} lines, of at most ${String(maxLines)}: split it by its subjects`);
console.log(`${String(lengths.length)} files, ${String(long.length)} too long`);
process.exitCode = long.length === 0 ? 0 : 1;
