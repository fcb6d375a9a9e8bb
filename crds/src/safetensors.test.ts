import { describe, expect, test } from '@jest/globals';
import { FailureError } from './failures.js';
import { parseHeaderLength, parseSafetensorsHeader, parseSafetensorsIndex } from './safetensors.js';
import { thrownBy } from './thrown-by.fixture.js';

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const header = encode({
  __metadata__: { format: 'pt' },
  b: { dtype: 'F32', shape: [3], data_offsets: [8, 20] },
  a: { dtype: 'BF16', shape: [2, 2], data_offsets: [0, 8] },
});
const fileBytes = 8 + header.byteLength + 20;

function lengthBytes(length: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, length, true);
  return bytes;
}

function reasonOf(run: () => unknown): string {
  const { reason, message } = thrownBy(FailureError, run);
  return `${reason}: ${message}`;
}

describe('safetensors', () => {
  test('lists shards once, with the total size', () => {
    const index = parseSafetensorsIndex(
      JSON.stringify({
        metadata: { total_size: 20 },
        weight_map: { y: 'm-2.safetensors', x: 'm-1.safetensors', z: 'm-2.safetensors' },
      }),
    );
    expect(index.files).toEqual(['m-1.safetensors', 'm-2.safetensors']);
    expect(index.totalSizeBytes).toBe(20);
  });

  test.each([
    ['{}', 'weight_map is missing'],
    ['{"weight_map":{"x":"../../etc/passwd.safetensors"}}', 'weight_map of x'],
    ['nonsense', 'not JSON'],
  ])('refuses the index %s', (text, part) => {
    expect(reasonOf(() => parseSafetensorsIndex(text))).toContain(part);
  });

  test('reads tensors in the order of their data', () => {
    expect(parseSafetensorsHeader('m', header, fileBytes)).toEqual([
      { name: 'a', dtype: 'BF16', shape: [2, 2], bytes: 8 },
      { name: 'b', dtype: 'F32', shape: [3], bytes: 12 },
    ]);
  });

  test('a file shorter than its header says is incomplete, with both sizes', () => {
    const reason = reasonOf(() => parseSafetensorsHeader('m', header, fileBytes - 1));
    expect(reason).toContain('CheckpointIncomplete');
    expect(reason).toContain(`${String(fileBytes - 1)} bytes of the ${String(fileBytes)}`);
  });

  test.each([
    ['trailing bytes', header, fileBytes + 1],
    ['a gap', encode({ a: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }), 100],
    ['a size that the shape denies', encode({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 4] } }), 100],
    ['an unknown dtype', encode({ a: { dtype: 'X', shape: [2], data_offsets: [0, 4] } }), 100],
  ])('%s is corrupt', (_name, bytes, size) => {
    expect(reasonOf(() => parseSafetensorsHeader('m', bytes, size))).toContain('CheckpointCorrupt: m');
  });

  test('a header length beyond the file is corrupt', () => {
    expect(parseHeaderLength('m', lengthBytes(90n), 100)).toBe(90);
    for (const [length, size] of [
      [93n, 100],
      [2n ** 63n, 100],
      [0n, 100],
    ] as const) {
      expect(reasonOf(() => parseHeaderLength('m', lengthBytes(length), size))).toContain(
        'CheckpointCorrupt',
      );
    }
    expect(reasonOf(() => parseHeaderLength('m', new Uint8Array(3), 3))).toContain('fewer than a header');
  });
});
