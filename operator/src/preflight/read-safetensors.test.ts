import { expect, test } from '@jest/globals';
import { readHeaders, type CheckpointFiles } from './read-safetensors.js';

const mib = 2 ** 20;

/** A file of one tensor, its header filled up with blanks, as the format allows. */
function weightFile(headerBytes: number): { bytes: Buffer; fileBytes: number } {
  const json = JSON.stringify({ w: { dtype: 'U8', shape: [1], data_offsets: [0, 1] } });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(headerBytes));
  const bytes = Buffer.concat([length, Buffer.from(json.padEnd(headerBytes))]);
  return { bytes, fileBytes: bytes.byteLength + 1 };
}

test('long headers are read one after another, short ones side by side', async () => {
  const files = new Map([
    ...['a', 'b', 'c'].map((name) => [name, weightFile(2 * mib)] as const),
    ...['d', 'e', 'f'].map((name) => [name, weightFile(mib)] as const),
  ]);
  const reading = { long: 0, short: 0 };
  const most = { long: 0, short: 0 };
  const read: CheckpointFiles['read'] = async (name, maxBytes, beginAt = 0) => {
    const kind = beginAt > 0 && name <= 'c' ? 'long' : 'short';
    reading[kind] += 1;
    most[kind] = Math.max(most[kind], reading[kind]);
    await new Promise((resolve) => setImmediate(resolve));
    reading[kind] -= 1;
    const { bytes, fileBytes } = files.get(name)!;
    return { bytes: bytes.subarray(beginAt, beginAt + maxBytes), fileBytes, etag: name };
  };
  const folder = { read, readOptional: read, list: () => Promise.resolve([]) };
  const headers = await readHeaders(folder, [...files.keys()]);
  expect(headers.map(({ file, tensors }) => [file, tensors.length])).toEqual(
    [...files.keys()].map((file) => [file, 1]),
  );
  expect(most.long).toBe(1);
  expect(most.short).toBeGreaterThan(1);
});

test('a header beyond what is read is refused before it is read, and one that is none by its first bytes', async () => {
  const asked: number[] = [];
  const folderOf = (bytes: Buffer): CheckpointFiles => {
    const read: CheckpointFiles['read'] = (_name, maxBytes, beginAt = 0) => {
      asked.push(maxBytes);
      const range = bytes.subarray(beginAt, beginAt + maxBytes);
      return Promise.resolve({ bytes: range, fileBytes: bytes.byteLength + 1, etag: 'a' });
    };
    return { read, readOptional: read, list: () => Promise.resolve([]) };
  };
  await expect(readHeaders(folderOf(weightFile(65 * mib).bytes), ['a'])).rejects.toThrow('its header claims');
  const hostile = weightFile(31 * mib).bytes;
  hostile.fill('[],', 8 + 5);
  hostile.write('{"a":[', 8);
  await expect(readHeaders(folderOf(hostile), ['a'])).rejects.toThrow('at byte 5 is "["');
  expect(Math.max(...asked)).toBeLessThanOrEqual(mib);
});
