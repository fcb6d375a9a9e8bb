// How long the header of a safetensors file is, and how long it may be.

import { FailureError } from '@llmservice/crds';
import { headerLengthBytes } from './safetensors-header.js';

/** 400,000 tensors make 54 MiB. */
const maxHeaderBytes = 64 * 2 ** 20;
/** Of the index, which has less of each tensor. */
export const maxIndexBytes = 64 * 2 ** 20;

/**
 * Length of the JSON header, from the first 8 bytes of a file of `fileBytes`.
 * @throws FailureError CheckpointCorrupt
 */
export function parseHeaderLength(file: string, firstBytes: Uint8Array, fileBytes: number): number {
  if (firstBytes.byteLength < headerLengthBytes) {
    throw corrupt(file, `the file has ${String(fileBytes)} bytes, fewer than a header takes`);
  }
  const view = new DataView(firstBytes.buffer, firstBytes.byteOffset, headerLengthBytes);
  const length = view.getBigUint64(0, true);
  if (length < 2n || length > BigInt(Math.min(maxHeaderBytes, fileBytes - headerLengthBytes))) {
    throw corrupt(file, `its header claims ${length.toString()} bytes in a file of ${String(fileBytes)}`);
  }
  return Number(length);
}

function corrupt(file: string, problem: string): FailureError {
  return new FailureError('CheckpointCorrupt', `${file}: ${problem}`, { file });
}
