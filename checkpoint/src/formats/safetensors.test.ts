import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { SafetensorsHeaderReader } from './safetensors-header.js';
import { SafetensorsIndexReader } from './safetensors-index.js';
import { parseSafetensorsHeader, parseSafetensorsIndex } from './safetensors.fixture.js';
import { parseHeaderLength } from './safetensors.js';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';

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
      encode({
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
    ['nonsense', 'at byte 0 is "n" where { of the index is expected'],
  ])('refuses the index %s', (text, part) => {
    expect(reasonOf(() => parseSafetensorsIndex(Buffer.from(text)))).toContain(part);
  });

  test('reads tensors in the order of their data', () => {
    expect(parseSafetensorsHeader('m', header, fileBytes)).toEqual([
      { name: 'a', dtype: 'BF16', shape: [2, 2], bytes: 8, offset: 8 + header.byteLength },
      { name: 'b', dtype: 'F32', shape: [3], bytes: 12, offset: 8 + header.byteLength + 8 },
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

describe('a header whose bytes come one after another', () => {
  const readBy = (bytes: Uint8Array, step: number, size: number) => {
    const reader = new SafetensorsHeaderReader('m');
    for (let at = 0; at < bytes.length; at += step) reader.write(bytes.subarray(at, at + step));
    return reader.end(size);
  };
  const text = (value: string): Uint8Array => Buffer.from(value);

  test.each([1, 2, 7, 1000])('%i at a time is the same header', (step) => {
    expect(readBy(header, step, fileBytes)).toEqual(parseSafetensorsHeader('m', header, fileBytes));
  });

  test('blanks, escapes and an empty metadata are read as JSON has them', () => {
    const blank = text(
      ' {\n"__metadata__" : { } ,\t"\\u0061é" : { "shape" : [ ] , "data_offsets":[0,4], "dtype":"F32" } }   ',
    );
    for (const step of [1, 3, 1000]) {
      expect(readBy(blank, step, 8 + blank.length + 4)).toEqual([
        { name: 'aé', dtype: 'F32', shape: [], bytes: 4, offset: 8 + blank.length },
      ]);
    }
    expect(readBy(text('{}'), 1, 10)).toEqual([]);
  });

  test.each([
    ['arrays for ever', '{"a":[', 'at byte 5 is "[" where {'],
    ['objects for ever', '{"a":{"a":', 'a: at byte 10 the field a'],
    ['an array in the shape', '{"a":{"shape":[[', 'at byte 15 is "[" where a shape'],
    ['no name', '{{', 'at byte 1 is "{" where the name'],
    ['nested metadata', '{"__metadata__":{"a":{', 'at byte 21 is "{" where a text of __metadata__'],
    ['a long name', `{"${'x'.repeat(2000)}`, 'the name of a tensor has more than 1024 bytes'],
    ['many sides', `{"a":{"shape":[${'1,'.repeat(20)}`, 'a shape has more than 16 numbers'],
    ['digits for ever', `{"a":{"shape":[${'9'.repeat(100)}`, 'a shape is larger than any file'],
    ['a fraction', '{"a":{"shape":[1.5', 'is "." where ] of a shape'],
    ['a sign', '{"a":{"shape":[-1', 'is "-" where a shape'],
    ['an unknown field', '{"a":{"x":1', 'the field x is there twice or is none of the format'],
    ['a field twice', '{"a":{"dtype":"F32","dtype":"F32"', 'the field dtype is there twice'],
  ])('%s is refused at its byte, before more is read', (_name, begin, part) => {
    const reader = new SafetensorsHeaderReader('m');
    expect(reasonOf(() => reader.write(Buffer.concat([text(begin), Buffer.alloc(2000, ' ')])))).toContain(
      part,
    );
  });

  const entry = '"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}';
  test.each([
    ['a tensor twice', `{${entry},${entry}}`, 'tensor a is there twice'],
    ['an end too early', `{${entry}`, 'the text ends where } of the header is expected'],
    ['an end within a text', '{"a', 'the text ends within the name of a tensor'],
    ['something behind it', `{${entry}}{`, 'something follows the end of the object'],
    ['no header', '[]', 'is "[" where { of the header'],
  ])('%s is corrupt, however it comes', (_name, json, part) => {
    for (const step of [1, 5, 1000]) expect(reasonOf(() => readBy(text(json), step, 100))).toContain(part);
  });

  test('blanks without end within an entry are not kept', () => {
    const reader = new SafetensorsHeaderReader('m');
    reader.write(text('{"a":'));
    const blanks = Buffer.alloc(2 ** 20, ' ');
    const writeAll = () => {
      for (let i = 0; i < 64; i += 1) reader.write(blanks);
    };
    expect(reasonOf(writeAll)).toContain('an entry has more than');
  });

  test('of as many tensors as the largest mixtures of experts have is read', () => {
    const parts = Array.from(
      { length: 100_000 },
      (_, i) =>
        `"model.layers.${String(i)}.w":{"dtype":"U8","shape":[1],"data_offsets":[${String(i)},${String(i + 1)}]}`,
    );
    const bytes = text(`{${parts.join(',')}}`);
    expect(readBy(bytes, 65_536, 8 + bytes.length + 100_000)).toHaveLength(100_000);
  });
});

describe('an index whose bytes come one after another', () => {
  const index = { metadata: { total_size: 7, more: [[1]] }, other: null, weight_map: { a: 'm.safetensors' } };
  const readBy = (json: string, step: number) => {
    const bytes = Buffer.from(json);
    const reader = new SafetensorsIndexReader();
    for (let at = 0; at < bytes.length; at += step) reader.write(bytes.subarray(at, at + step));
    return reader.end();
  };

  test.each([1, 3, 1000])('%i at a time is the same index', (step) => {
    expect(readBy(JSON.stringify(index), step)).toEqual({
      files: ['m.safetensors'],
      totalSizeBytes: 7,
      weightMap: new Map([['a', 'm.safetensors']]),
    });
  });

  test.each([
    ['deep metadata', `{"metadata":${'['.repeat(1000)}`, 'metadata is nested deeper than 8 levels'],
    ['long metadata', `{"metadata":[${'1,'.repeat(2 ** 20)}`, 'metadata has more than 1048576 bytes'],
    ['a file that is no text', '{"weight_map":{"a":[', 'is "[" where the file of a tensor is expected'],
    ['no value', '{"metadata":}', 'metadata is missing'],
  ])('%s is refused', (_name, json, part) => {
    expect(reasonOf(() => readBy(json, 65_536))).toContain(part);
  });
});
