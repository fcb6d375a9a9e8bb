import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { PlacedTensor } from '../../formats/safetensors-header.js';
import { readTensorValues } from './tensor-values.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tensor-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Longer than a piece that is read at once, behind a few bytes of something else. */
const count = 400_000;
const tensor = { name: 'w', dtype: 'F32', shape: [count], bytes: 4 * count, offset: 12 } as PlacedTensor;

async function write(change: (values: Float32Array) => void): Promise<Float32Array> {
  const values = Float32Array.from({ length: count }, (_, i) => i);
  change(values);
  await writeFile(join(folder, 'f'), Buffer.concat([Buffer.alloc(12), Buffer.from(values.buffer)]));
  return values;
}

test('all values of a long tensor are read', async () => {
  const values = await write(() => undefined);
  const read = await readTensorValues(folder, 'f', tensor);
  expect(Buffer.from(read.buffer).equals(Buffer.from(values.buffer))).toBe(true);
});

test('a file that ends within the tensor is refused', async () => {
  await write(() => undefined);
  await truncate(join(folder, 'f'), 12 + 4 * count - 1);
  await expect(readTensorValues(folder, 'f', tensor)).rejects.toMatchObject({
    reason: 'CheckpointCorrupt',
    message: 'f: tensor w ends after 1599999 of its 1600000 bytes',
  });
});

test.each([NaN, -Infinity])('%p is refused', async (value) => {
  await write((values) => {
    values[count - 1] = value;
  });
  await expect(readTensorValues(folder, 'f', tensor)).rejects.toMatchObject({
    reason: 'CheckpointCorrupt',
    message: `f: tensor w has ${String(value)} at 399999, which is not finite`,
  });
});

test('a half that is infinite is refused too', async () => {
  await writeFile(join(folder, 'f'), Buffer.from([0x00, 0x3e, 0x00, 0x7c]));
  const halves = { ...tensor, dtype: 'F16', shape: [2], bytes: 4, offset: 0 };
  await expect(readTensorValues(folder, 'f', halves)).rejects.toThrow('has Infinity at 1');
});
