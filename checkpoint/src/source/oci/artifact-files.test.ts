import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { artifactFiles } from './artifact-files.js';
import { layersIn, type Layer } from './artifact-manifest.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'llmservice-artifact-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const digestOf = (content: Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;
const nothing = digestOf(Buffer.alloc(0));

/** By the real tar. */
function archive(names: readonly string[], ...options: readonly string[]): Buffer {
  for (const name of names) writeFileSync(join(dir, name), `content of ${name}`);
  return execFileSync('tar', [...options, '-C', dir, '-cf', '-', ...names], { maxBuffer: 2 ** 26 });
}

const tarLayer = (content: Buffer): Layer => ({
  ...{ digest: digestOf(content), bytes: content.length },
  content: { kind: 'tar', compression: null, path: null },
});

const fileLayer = (path: string): Layer => ({ digest: nothing, bytes: 0, content: { kind: 'file', path } });

const filesOf = (layers: readonly Layer[], content: Buffer = Buffer.alloc(0)) =>
  artifactFiles(layers, '', (_, begin, end) => Promise.resolve(content.subarray(begin, end)), {
    unpack: () => {
      throw new Error('nothing is compressed');
    },
    look: 'whole',
  });

test('of the only file of an archive what lies around it is kept, and no more', async () => {
  const content = archive(['a.txt']);
  const digest = (await filesOf([tarLayer(content)], content)).get('a.txt')?.digest;
  const { before, after } = digest?.around ?? {};
  const whole = Buffer.concat([
    before ?? Buffer.alloc(0),
    Buffer.from('content of a.txt'),
    after ?? Buffer.alloc(0),
  ]);
  expect(digestOf(whole)).toBe(`sha256:${digest?.hex ?? ''}`);
  // A view of what was read would keep all of it.
  const kept = [before, after].filter((each) => each?.buffer === content.buffer);
  expect(kept).toEqual([]);
});

test('an archive with much around its only file has no digest of that', async () => {
  const content = archive(['a.txt'], '--blocking-factor=128');
  expect((await filesOf([tarLayer(content)], content)).get('a.txt')?.digest).toBeNull();
});

test('archives have at most 4,000 members together', async () => {
  const content = archive(Array.from({ length: 100 }, (_, at) => `f${String(at)}`));
  const layer = tarLayer(content);
  expect((await filesOf(Array<Layer>(40).fill(layer), content)).size).toBe(100);
  const more = filesOf(Array<Layer>(41).fill(layer), content);
  await expect(more).rejects.toMatchObject({ code: 'TooManyFiles' });
});

test('an artifact has at most 1,000 layers', () => {
  const layer = { mediaType: 'application/octet-stream', digest: nothing, size: 0 };
  const manifest = (count: number) => Buffer.from(JSON.stringify({ layers: Array(count).fill(layer) }));
  expect(layersIn(manifest(1_000))).toEqual([]);
  expect(() => layersIn(manifest(1_001))).toThrow(expect.objectContaining({ code: 'TooManyFiles' }));
});

test('a path has at most 4 KiB', async () => {
  const name = 'é'.repeat(2_048);
  expect([...(await filesOf([fileLayer(name)])).keys()]).toEqual([name]);
  await expect(filesOf([fileLayer(`${name}x`)])).rejects.toMatchObject({ code: 'InvalidPath' });
});

test.each(['', '.', '/', './/.', '..', 'a/..'])('a layer of the name "%s" is no file', async (name) => {
  expect([...(await filesOf([fileLayer(name)])).keys()]).toEqual([]);
});

test.each(['a\0b', 'a\nb', 'a\x7f', '\x1b[31m', 'elsewhere/\x85'])('the path %j is refused', async (name) => {
  await expect(filesOf([fileLayer(name)])).rejects.toMatchObject({ code: 'InvalidPath' });
});
