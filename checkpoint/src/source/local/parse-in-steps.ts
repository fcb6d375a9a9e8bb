// The header of a safetensors file and the index of a checkpoint, parsed a piece at a time: one of some hundred thousand
// tensors takes a second, in which the streams of another model must continue.

import { setImmediate as othersTurn } from 'node:timers/promises';
import { SafetensorsHeaderReader, type PlacedTensor } from '../../formats/safetensors-header.js';
import { SafetensorsIndexReader, type SafetensorsIndex } from '../../formats/safetensors-index.js';

/** Some milliseconds. */
const pieceBytes = 2 ** 18;

/** @throws FailureError of SafetensorsHeaderReader */
export async function parseHeaderInSteps(
  file: string,
  header: Uint8Array,
  fileBytes: number,
): Promise<PlacedTensor[]> {
  const reader = new SafetensorsHeaderReader(file);
  await writeInSteps(reader, header);
  return reader.end(fileBytes);
}

/** @throws FailureError of SafetensorsIndexReader */
export async function parseIndexInSteps(index: Uint8Array): Promise<SafetensorsIndex> {
  const reader = new SafetensorsIndexReader();
  await writeInSteps(reader, index);
  return reader.end();
}

async function writeInSteps(
  reader: { readonly write: (bytes: Uint8Array) => void },
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
    reader.write(bytes.subarray(at, at + pieceBytes));
    await othersTurn();
  }
}
