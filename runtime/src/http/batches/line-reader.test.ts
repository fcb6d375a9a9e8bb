import { expect, test } from '@jest/globals';
import { LineReader } from './line-reader.js';

/** Lines of a text that comes in parts of so many bytes. */
function linesOf(text: string | Buffer, partBytes: number, maxBytes = 1000): [number, string | null][] {
  const bytes = Buffer.from(text as string);
  const reader = new LineReader(maxBytes);
  const lines: [number, string | null][] = [];
  for (let at = 0; at < bytes.length; at += partBytes)
    for (const line of reader.push(bytes.subarray(at, at + partBytes)))
      lines.push([line.number, line.bytes?.toString() ?? null]);
  for (const line of reader.end()) lines.push([line.number, line.bytes?.toString() ?? null]);
  return lines;
}

test.each([
  [
    'two lines',
    'a\nb\n',
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  [
    'a last line without its end',
    'a\nbc',
    [
      [1, 'a'],
      [2, 'bc'],
    ],
  ],
  [
    'ends of Windows',
    'a\r\nb\r\n',
    [
      [1, 'a\r'],
      [2, 'b\r'],
    ],
  ],
  [
    'empty lines, which count',
    '\n\na\n \t\r\nb\n\n',
    [
      [3, 'a'],
      [5, 'b'],
    ],
  ],
  ['nothing', '', []],
  [
    'a byte order mark',
    '\ufeffa\nb',
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  [
    'a mark elsewhere',
    'a\n\ufeffb',
    [
      [1, 'a'],
      [2, '\ufeffb'],
    ],
  ],
  [
    'letters of several bytes',
    'ä∅🙂\n∅',
    [
      [1, 'ä∅🙂'],
      [2, '∅'],
    ],
  ],
] as const)('%s, at every split', (_, text, lines) => {
  for (let partBytes = 1; partBytes <= Buffer.byteLength(text) + 1; partBytes++)
    expect(linesOf(text, partBytes)).toEqual(lines);
});

test('a line that is too long has its number and nothing else, however it comes', () => {
  const text = `${'a'.repeat(10)}\n${'b'.repeat(11)}\nc`;
  for (const partBytes of [1, 3, 11, 12, 100])
    expect(linesOf(text, partBytes, 10)).toEqual([
      [1, 'a'.repeat(10)],
      [2, null],
      [3, 'c'],
    ]);
});
