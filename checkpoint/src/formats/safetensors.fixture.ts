// Headers and indexes whose bytes are all there, for tests.

import { SafetensorsHeaderReader, type TensorEntry } from './safetensors-header.js';
import { SafetensorsIndexReader, type SafetensorsIndex } from './safetensors-index.js';

export function parseSafetensorsIndex(text: Uint8Array): SafetensorsIndex {
  const reader = new SafetensorsIndexReader();
  reader.write(text);
  return reader.end();
}

/** @param header the JSON that follows the length */
export function parseSafetensorsHeader(file: string, header: Uint8Array, fileBytes: number): TensorEntry[] {
  const reader = new SafetensorsHeaderReader(file);
  reader.write(header);
  return reader.end(fileBytes);
}
