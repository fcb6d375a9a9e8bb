// The safetensors container, from bytes that are all there: the index of a sharded checkpoint, and the header that opens
// each file. Pure parsing of bytes that were read elsewhere; every inconsistency is a typed failure that names the file.

import { FailureError } from './failures.js';
import { headerLengthBytes, SafetensorsHeaderReader, type TensorEntry } from './safetensors-header.js';
import { SafetensorsIndexReader, type SafetensorsIndex } from './safetensors-index.js';

/** 400,000 tensors make 54 MiB. */
export const mostHeaderBytes = 64 * 2 ** 20;
/** Of the index, which has less of each tensor. */
export const mostIndexBytes = 64 * 2 ** 20;

/** @throws FailureError CheckpointCorrupt */
export function parseSafetensorsIndex(text: Uint8Array): SafetensorsIndex {
  const reader = new SafetensorsIndexReader();
  reader.write(text);
  return reader.end();
}

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
  if (length < 2n || length > BigInt(Math.min(mostHeaderBytes, fileBytes - headerLengthBytes))) {
    throw corrupt(file, `its header claims ${length.toString()} bytes in a file of ${String(fileBytes)}`);
  }
  return Number(length);
}

/**
 * Tensors of one file, see SafetensorsHeaderReader.
 * @param header the JSON that follows the length
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete
 */
export function parseSafetensorsHeader(file: string, header: Uint8Array, fileBytes: number): TensorEntry[] {
  const reader = new SafetensorsHeaderReader(file);
  reader.write(header);
  return reader.end(fileBytes);
}

function corrupt(file: string, problem: string): FailureError {
  return new FailureError('CheckpointCorrupt', `${file}: ${problem}`, { file });
}
