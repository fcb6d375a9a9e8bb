import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Compression } from './expanded.js';
import { UnpackedLayer, UnpackShare } from './unpacked-layer.js';

const compress = { gzip: gzipSync, zstd: zstdCompressSync };
const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));

function layer(stored: Buffer, compression: Compression, share = new UnpackShare(Infinity, false)) {
  const seen = { downloads: 0, bytes: 0, bodies: [] as Readable[] };
  const download = (): Promise<Readable> => {
    seen.downloads += 1;
    const chunks = Array.from({ length: Math.ceil(stored.length / 1000) }, (_, at) =>
      stored.subarray(at * 1000, at * 1000 + 1000),
    );
    const body = Readable.from(chunks);
    seen.bodies.push(body);
    return Promise.resolve(body);
  };
  const onBytes = (): void => void (seen.bytes += 1);
  const options = { bytes: stored.length, compression, download, share, onBytes };
  return { seen, unpacked: new UnpackedLayer(options) };
}

async function bytesOf(read: AsyncGenerator<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of read) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each(['gzip', 'zstd'] as const)('a layer by %s', (compression) => {
  const stored = compress[compression](content);

  test('is downloaded once for reads that follow each other, and again for one before them', async () => {
    const { unpacked, seen } = layer(stored, compression);
    for (const [begin, end] of [
      [0, 10],
      [10, 200_000],
      [250_000, 250_001],
    ] as const)
      expect((await bytesOf(unpacked.read(begin, end))).equals(content.subarray(begin, end))).toBe(true);
    await unpacked.seek(299_000);
    expect((await bytesOf(unpacked.read(299_000, 300_000))).equals(content.subarray(299_000))).toBe(true);
    expect(seen.downloads).toBe(1);
    expect((await bytesOf(unpacked.read(5, 7))).equals(content.subarray(5, 7))).toBe(true);
    expect(seen.downloads).toBe(2);
    expect(seen.bytes).toBeGreaterThan(0);
    await unpacked.close();
  });

  test('has the digest of what is stored, from wherever it is finished', async () => {
    const { unpacked } = layer(stored, compression);
    await bytesOf(unpacked.read(7, 9));
    expect(await unpacked.finish()).toBe(`sha256:${createHash('sha256').update(stored).digest('hex')}`);
  });

  test('ends where its content does', async () => {
    const { unpacked } = layer(stored, compression);
    expect(await bytesOf(unpacked.read(300_000, 300_512))).toHaveLength(0);
    await expect(bytesOf(unpacked.read(299_999, 300_512))).rejects.toMatchObject({ code: 'BrokenArchive' });
  });

  test.each([
    ['is cut short', stored.subarray(0, stored.length - 20)],
    ['is something else', Buffer.from('no archive at all, of any kind')],
  ])('that %s is broken', async (_, broken) => {
    const { unpacked } = layer(broken, compression);
    await expect(bytesOf(unpacked.read(0, content.length))).rejects.toMatchObject({ code: 'BrokenArchive' });
  });

  test('that grows without end is given up', async () => {
    const { unpacked } = layer(compress[compression](Buffer.alloc(80 * 2 ** 20)), compression);
    await expect(unpacked.finish()).rejects.toMatchObject({ code: 'ExpandsTooFar' });
  });

  test('is read no further than is allowed, with others and by all passes', async () => {
    const share = new UnpackShare(100_000, false);
    const { unpacked } = layer(stored, compression, share);
    const { unpacked: another } = layer(stored, compression, share);
    expect(await bytesOf(unpacked.read(0, 50_000))).toHaveLength(50_000);
    expect(await bytesOf(unpacked.read(0, 25_000))).toHaveLength(25_000);
    expect(await bytesOf(another.read(0, 25_000))).toHaveLength(25_000);
    await expect(bytesOf(another.read(25_000, 25_001))).rejects.toMatchObject({ code: 'UnpackedTooLong' });
  });

  test.each([true, false])('waits for its next read alone: %s', async (onlyOne) => {
    const share = new UnpackShare(Infinity, onlyOne);
    // Longer than what streams hold by themselves.
    const long = compress[compression](randomBytes(2 ** 20));
    const [one, other] = [layer(long, compression, share), layer(long, compression, share)];
    for (const { unpacked } of [one, other]) await bytesOf(unpacked.read(0, 10));
    expect([one, other].map(({ seen }) => seen.bodies[0]?.destroyed)).toEqual([onlyOne, false]);
    for (const { unpacked } of [one, other]) await unpacked.close();
  });

  test('that was sought and never read leaves no download, and no error without a listener', async () => {
    const { unpacked, seen } = layer(stored, compression);
    await unpacked.seek(0);
    seen.bodies[0]?.destroy(new Error('the connection is gone'));
    await new Promise(setImmediate);
    await unpacked.close();
    await unpacked.seek(0);
    await unpacked.close();
    expect(seen.bodies.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });
});
