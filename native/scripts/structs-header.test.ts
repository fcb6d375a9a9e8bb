// What is declared on one side alone does not get by: the generated header differs from the committed one, or C++ does not
// compile.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from '@jest/globals';

import { bridgeText } from './bridge-text.js';
import { readDeclarations } from './declarations.js';
import { structsHeader } from './structs-header.js';

const sources = new URL('../src/', import.meta.url);
const declared = bridgeText();
const committed = readFileSync(new URL('bridge/structs.h', sources), 'utf8');

const headerOf = (text: string): string[] => structsHeader(readDeclarations(text)).split('\n');
const minP = '  readonly minP: Float32;\n';

test('a field of the declaration alone makes the committed header stale, by its member and its visit', () => {
  const lines = headerOf(declared);
  const changed = headerOf(declared.replace(minP, `${minP}  readonly topA: Float32;\n`));
  const added = changed.filter((line) => !lines.includes(line)).map((line) => line.trim());
  expect(added.filter((line) => !line.includes('auto& ['))).toEqual([
    'float top_a = 0;',
    'visit("topA", value.top_a);',
  ]);
});

test.each([
  ['is optional', '  readonly minP?: Float32;\n', 'SamplingParams.minP is optional: say null.'],
  ['has values without a name', "  readonly minP: 'a' | 'b';\n", "`'a' | 'b'` needs a name of its own."],
  ['is of a type that C++ has not', '  readonly minP: Date;\n', 'Date does not cross the bridge.'],
])('a field that %s is refused', (_, field, message) => {
  expect(() => headerOf(declared.replace(minP, field))).toThrow(message);
});

/** What the compiler says of a use of that header; '' when nothing. */
function compile(header: string): string {
  const use = 'void use(llmservice::SamplingParams& p) { visit_fields(p, [](const char*, auto&) {}); }';
  const command = ['-std=c++20', '-fsyntax-only', '-I', fileURLToPath(sources), '-xc++', '-'];
  const { status, stderr, error } = spawnSync('c++', command, {
    input: `${header}\n${use}`,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return status === 0 ? '' : stderr;
}

const member = '  float min_p = 0;\n';

test.each([
  ['more', `${member}  float top_a = 0;\n`],
  ['less', ''],
])('a struct of C++ with one field %s does not compile', (_, changed) => {
  expect(compile(committed)).toBe('');
  expect(committed).toContain(member);
  expect(compile(committed.replace(member, changed))).not.toBe('');
});
