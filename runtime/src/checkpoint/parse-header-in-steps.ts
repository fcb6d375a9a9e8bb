// The header of a safetensors file, parsed a piece at a time: one of some hundred thousand tensors takes a second, in which
// the streams of another model must go on.

import { setImmediate as othersTurn } from 'node:timers/promises';
import { SafetensorsHeaderReader, type TensorEntry } from '@llmservice/crds';

/** Some milliseconds. */
const pieceBytes = 2 ** 18;

/** @throws FailureError of SafetensorsHeaderReader */
export async function parseHeaderInSteps(
  file: string,
  header: Uint8Array,
  fileBytes: number,
): Promise<TensorEntry[]> {
  const reader = new SafetensorsHeaderReader(file);
  for (let at = 0; at < header.byteLength; at += pieceBytes) {
    reader.write(header.subarray(at, at + pieceBytes));
    await othersTurn();
  }
  return reader.end(fileBytes);
}
