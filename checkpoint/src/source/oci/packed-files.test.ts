import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Layer } from './artifact-manifest.js';
import { packedFiles } from './packed-files.js';
import { UnpackedLayer, UnpackShare } from './unpacked-layer.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-packed-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** By the real tar. */
function packed(contents: Readonly<Record<string, string>>): Buffer {
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(dir, name), content);
  return gzipSync(execFileSync('tar', ['-C', dir, '-cf', '-', ...Object.keys(contents)]));
}

function look(
  stored: Buffer,
  only: string | null,
  as: 'whole' | 'headers',
  digest = `sha256:${sha256(stored)}`,
) {
  const layer: Layer = {
    ...{ digest, bytes: stored.length },
    content: { kind: 'tar', compression: 'gzip', path: only },
  };
  const unpacked = new UnpackedLayer({
    ...{
      bytes: stored.length,
      compression: 'gzip',
      share: new UnpackShare(Infinity, true),
      onBytes: () => undefined,
    },
    download: () => Promise.resolve(Readable.from([stored])),
  });
  return packedFiles(layer, only, unpacked, { members: 10 }, as);
}

test('files of a compressed archive have their own digests once all of it was read', async () => {
  const files = await look(packed({ 'a.txt': 'of a', 'b.txt': 'of b' }), null, 'whole');
  expect(files.map(({ path, digest }) => [path, digest?.hex])).toEqual([
    ['a.txt', sha256('of a')],
    ['b.txt', sha256('of b')],
  ]);
});

test('one that is not what its digest says has none', async () => {
  const other = look(packed({ 'a.txt': 'of a' }), null, 'whole', `sha256:${sha256('other')}`);
  await expect(other).rejects.toMatchObject({ code: 'DigestMismatch' });
});

test('by headers, all are listed, or the one that the manifest names', async () => {
  const stored = packed({ 'a.txt': 'of a', 'b.txt': 'of b' });
  const all = await look(stored, null, 'headers');
  expect(all.map(({ path, bytes, digest }) => [path, bytes, digest])).toEqual([
    ['a.txt', 4, null],
    ['b.txt', 4, null],
  ]);
  expect((await look(stored, './a.txt', 'headers')).map(({ path }) => path)).toEqual(['a.txt']);
  expect((await look(stored, 'folder', 'headers')).map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
});
