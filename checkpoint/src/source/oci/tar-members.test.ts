import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { tarMembers } from './tar-members.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-tar-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const membersOf = (content: Buffer, bytes = content.length) =>
  tarMembers((begin, end) => Promise.resolve(content.subarray(begin, end)), bytes, { members: 10 });

/** By the real tar. */
const archive = (...options: readonly string[]): Buffer =>
  execFileSync('tar', [...options, '-C', dir, '-cf', '-', 'a.bin'], { maxBuffer: 2 ** 26 });

test.each(['gnu', 'pax'])('sparse files of the format %s are refused by name', async (format) => {
  writeFileSync(join(dir, 'a.bin'), 'a');
  truncateSync(join(dir, 'a.bin'), 1024 * 1024);
  await expect(membersOf(archive(`--format=${format}`))).resolves.toHaveLength(1);
  await expect(membersOf(archive(`--format=${format}`, '--sparse'))).rejects.toMatchObject({
    code: 'SparseArchive',
  });
});

/** The field of the size, with a sum that is right. */
function resized(size: Buffer): Buffer {
  writeFileSync(join(dir, 'a.bin'), 'a');
  const content = archive('--format=gnu');
  size.copy(content, 124);
  content.fill(' ', 148, 156);
  const sum = content.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  content.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return content;
}

test('a size of 8 GiB, which octal digits cannot have, is read', async () => {
  const size = Buffer.from('800000000000000200000000', 'hex');
  const [file] = await membersOf(resized(size), 2 ** 34);
  expect(file).toEqual({ path: 'a.bin', begin: 512, bytes: 2 ** 33 });
});

test.each([
  ['more than 64 bits', '800000010000000000000001'],
  ['bits beside the first', '810000000000000000000001'],
  ['a negative number', 'ffffffffffffffffffffffff'],
  ['more than a safe integer', '80000000ffffffffffffffff'],
])('a size of %s is refused', async (_, hex) => {
  await expect(membersOf(resized(Buffer.from(hex, 'hex')))).rejects.toMatchObject({
    code: 'BrokenArchive',
    message: expect.stringContaining('no size'),
  });
});
