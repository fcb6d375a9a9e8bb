// The head of a checkpoint that classifies: a small matrix, which the engine does not read.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FailureError } from '@llmservice/crds';
import { classifierHead } from '../../weights/expected-tensors.js';
import type { LocalCheckpoint } from './open-checkpoint.js';

/**
 * (labels, hidden). @param checkpoint whose tensors were found to be those of its shape
 * @throws FailureError CheckpointIncomplete, UnsupportedQuantization
 */
export async function readClassifierHead({ dir, shape, tensors }: LocalCheckpoint): Promise<Float32Array> {
  const found = tensors.find(({ name }) => name === classifierHead);
  if (found === undefined)
    throw new FailureError('CheckpointIncomplete', `the checkpoint has no tensor ${classifierHead}`);
  const bytes = Buffer.alloc(found.bytes);
  const file = await open(join(dir, found.file));
  try {
    await file.read(bytes, 0, bytes.length, found.offset);
  } finally {
    await file.close();
  }
  const values = new Float32Array(shape.labels * shape.hidden);
  const read = readers[found.dtype];
  if (read === undefined)
    throw new FailureError(
      'UnsupportedQuantization',
      `tensor ${classifierHead} has type ${found.dtype}; it is read as F32, BF16 or F16`,
    );
  return values.map((_, index) => read(bytes, index));
}

const readers: Readonly<Record<string, (bytes: Buffer, index: number) => number>> = {
  F32: (bytes, index) => bytes.readFloatLE(4 * index),
  BF16: (bytes, index) => {
    const wide = Buffer.alloc(4);
    wide.writeUInt16LE(bytes.readUInt16LE(2 * index), 2);
    return wide.readFloatLE(0);
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
