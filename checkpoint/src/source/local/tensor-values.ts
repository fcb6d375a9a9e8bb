// The values of a small tensor, which the runtime computes with itself: of heads and modules behind the engine's hidden states.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import type { PlacedTensor } from '../../formats/safetensors-header.js';

/**
 * @param file below `dir`
 * @throws FailureError UnsupportedQuantization
 */
export async function readTensorValues(
  dir: string,
  file: string,
  { name, dtype, bytes: size, offset, shape }: PlacedTensor,
): Promise<Float32Array> {
  const read = readers[dtype];
  if (read === undefined)
    throw new FailureError(
      'UnsupportedQuantization',
      `tensor ${name} has type ${dtype}; it is read as F32, BF16 or F16`,
    );
  const bytes = Buffer.alloc(size);
  const handle = await open(join(dir, file));
  try {
    await handle.read(bytes, 0, bytes.length, offset);
  } finally {
    await handle.close();
  }
  const values = new Float32Array(shape.reduce((count, side) => count * side, 1));
  return values.map((_, index) => read(bytes, index));
}

/** The upper half of a float32. */
const wide = new DataView(new ArrayBuffer(4));

const readers: Readonly<Record<string, (bytes: Buffer, index: number) => number>> = {
  F32: (bytes, index) => bytes.readFloatLE(4 * index),
  BF16: (bytes, index) => {
    wide.setUint16(0, bytes.readUInt16LE(2 * index));
    return wide.getFloat32(0);
  },
  F16: (bytes, index) => halfOf(bytes.readUInt16LE(2 * index)),
};

/** IEEE 754 binary16. */
function halfOf(bits: number): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
