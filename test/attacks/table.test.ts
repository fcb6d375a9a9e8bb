// The table of README.md: each row names a boundary of the threat model and a test that is there.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const text = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

const boundaries = [...text('SECURITY.md').matchAll(/^\| \*\*(\w+)\*\* \|/gm)].map(([, name]) => name);
const rows = text('test/attacks/README.md')
  .split('\n')
  .map((line) => /^\| ([^|]+) \| (\w+) \| ([\w/.-]+): ([^|]+) \| [^|]+ \|$/.exec(line)?.slice(1) ?? [])
  .filter((row) => row.length > 0)
  .map((row) => row as [attack: string, boundary: string, file: string, title: string]);

test('every row can be read', () => {
  const lines = text('test/attacks/README.md').split('\n');
  expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(rows.length + 1);
});

test('every boundary is attacked', () => {
  expect([...new Set(rows.map(([, boundary]) => boundary))].toSorted()).toEqual(boundaries.toSorted());
});

describe.each(rows)('%s', (_, boundary, file, title) => {
  test(`crosses a boundary that SECURITY.md has`, () => {
    expect(boundaries).toContain(boundary);
  });

  test(`is held by ${file}: ${title}`, () => {
    const source = text(file.includes('/src/') ? `${file}.test.ts` : `test/${file}.test.ts`);
    expect(source.split('\n').some((line) => line.includes(`'${title}`))).toBe(true);
  });
});
