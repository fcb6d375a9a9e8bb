// The values of a small tensor, which the runtime computes with itself: of heads and modules behind the engine's hidden states.
// Read and converted piece by piece, so that beside the values there is one piece at a time.

import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import type { PlacedTensor } from '../../formats/safetensors-header.js';

/** A whole number of values of any type. */
const pieceBytes = 2 ** 20;

/**
 * @param file below `dir`
 * @throws FailureError UnsupportedQuantization; CheckpointCorrupt: the file ends within it, or a value is not finite
 */
export async function readTensorValues(
  dir: string,
  file: string,
  { name, dtype, bytes: size, offset, shape }: PlacedTensor,
): Promise<Float32Array> {
  const type = types[dtype];
  if (type === undefined)
    throw new FailureError(
      'UnsupportedQuantization',
      `tensor ${name} has type ${dtype}; it is read as F32, BF16 or F16`,
    );
  const corrupt = (problem: string): FailureError =>
    new FailureError('CheckpointCorrupt', `${file}: tensor ${name} ${problem}`, { file });
  const values = new Float32Array(shape.reduce((count, side) => count * side, 1));
  const piece = Buffer.alloc(Math.min(size, pieceBytes));
  const handle = await open(join(dir, file));
  try {
    for (let at = 0, index = 0; at < size; at += piece.length) {
      const bytes = piece.subarray(0, size - at);
      const found = await fill(handle, bytes, offset + at);
      if (found < bytes.length)
        throw corrupt(`ends after ${String(at + found)} of its ${String(size)} bytes`);
      for (let i = 0; i < bytes.length; i += type.bytes, index += 1) {
        const value = type.read(bytes, i);
        if (!Number.isFinite(value))
          throw corrupt(`has ${String(value)} at ${String(index)}, which is not finite`);
        values[index] = value;
      }
    }
  } finally {
    await handle.close();
  }
  return values;
}

/** How many bytes there were: one read may give fewer than it was asked for. */
async function fill(handle: FileHandle, bytes: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** The upper half of a float32. */
const wide = new DataView(new ArrayBuffer(4));

interface ValueType {
  readonly bytes: number;
  readonly read: (bytes: Buffer, at: number) => number;
}

const types: Readonly<Record<string, ValueType>> = {
  F32: { bytes: 4, read: (bytes, at) => bytes.readFloatLE(at) },
  BF16: {
    bytes: 2,
    read: (bytes, at) => {
      wide.setUint16(0, bytes.readUInt16LE(at));
      return wide.getFloat32(0);
    },
  },
  F16: { bytes: 2, read: (bytes, at) => halfOf(bytes.readUInt16LE(at)) },
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
