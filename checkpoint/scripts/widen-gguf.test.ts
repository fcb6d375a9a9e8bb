import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseGgufHeader, type GgufHeader } from '../src/formats/gguf-header.js';
import { ggufFile, llamaGguf } from '../src/formats/gguf.fixture.js';
import { q41ToBf16 } from './q4-1.js';
import { widenGguf } from './widen-gguf.js';

/** By numpy: see q4_1_golden.py. */
const golden = JSON.parse(readFileSync(new URL('q4-1.golden.json', import.meta.url), 'utf8')) as {
  readonly blocks: string;
  readonly bf16: string;
};
const blocks = Buffer.from(golden.blocks, 'hex');
const bf16 = Buffer.from(golden.bf16, 'hex');

function headerOf(bytes: Uint8Array): GgufHeader {
  const header = parseGgufHeader('model.gguf', bytes, bytes.length, { arrays: true });
  if (header === null) throw new Error('the whole file is there');
  return header;
}

function tensorOf(bytes: Uint8Array, name: string) {
  const { dtype, shape, offset, bytes: length } = headerOf(bytes).tensors.find((each) => each.name === name)!;
  return { dtype, shape, data: Buffer.from(bytes.subarray(offset, offset + (length ?? 0))) };
}

test('blocks of Q4_1 become the values that numpy makes of them', () => {
  expect(Buffer.from(q41ToBf16(blocks).buffer).equals(bf16)).toBe(true);
});

test.each<[string, number, number, number[], number[]]>([
  // 0.5 * code - 1: F16 0x3800 and 0xbc00; BF16 0xbf80 is -1, 0x40d0 is 6.5.
  ['codes 0 and 15', 0x3800, 0xbc00, [0xf0], [0xbf80, 0x40d0]],
  // 1 + 2^-8 * code: 1 + 2^-8 lies between 1 and 1 + 2^-7 and goes to the even 1; 1 + 3 * 2^-8 to the even 1 + 2^-6.
  ['ties', 0x1c00, 0x3c00, [0x31], [0x3f80, 0x3f82]],
  ['infinity', 0x3800, 0x7c00, [0x00], [0x7f80, 0x7f80]],
])('%s come out as by hand', (_, scale, minimum, codes, [low, high]) => {
  const block = Buffer.alloc(20);
  block.writeUInt16LE(scale, 0);
  block.writeUInt16LE(minimum, 2);
  block.set(codes, 4);
  const values = q41ToBf16(block);
  expect([values[0], values[16]]).toEqual([low, high]);
});

test('NaN stays NaN, and a part of a block is refused', () => {
  const block = Buffer.alloc(20);
  block.writeUInt16LE(0x7c01, 0);
  expect(q41ToBf16(block)[0]! & 0x7fff).toBeGreaterThan(0x7f80);
  expect(() => q41ToBf16(block.subarray(1))).toThrow('no whole blocks');
});

test('a file keeps its keys and its other tensors', () => {
  const q41 = { type: 3, shape: [8, 256], bytes: blocks.length };
  const before = ggufFile(llamaGguf({ tensors: { 'blk.0.ffn_up.weight': q41, 'output.weight': q41 } }));
  const { tensors } = headerOf(before);
  for (const { dtype, offset, bytes } of tensors) {
    if (dtype === 'Q4_1') blocks.copy(before, offset);
    else before.fill(7, offset, offset + (bytes ?? 0));
  }
  const after = Buffer.concat(widenGguf('model.gguf', before));
  expect(headerOf(after).values).toEqual(headerOf(before).values);
  for (const { name, dtype, shape } of tensors) {
    const expected = dtype === 'Q4_1' ? { dtype: 'BF16', shape, data: bf16 } : tensorOf(before, name);
    expect(tensorOf(after, name)).toEqual(expected);
  }
});

test('types that are neither read nor Q4_1 are refused', () => {
  const q5 = { type: 6, shape: [8, 256], bytes: 0 };
  const file = ggufFile(llamaGguf({ tensors: { 'output.weight': q5 } }));
  expect(() => widenGguf('model.gguf', file)).toThrow('model.gguf: tensor output.weight has type Q5_0');
});
