// Reads a GGUF header by ranges that grow until it is whole: nothing says beforehand how long it is.

import { FailureError } from '@llmservice/crds';
import { parseGgufHeader, type GgufHeader } from './gguf-header.js';
import { maxGgufHeaderBytes } from './gguf-reader.js';

const firstReadBytes = 2 ** 20;

/** Bytes [begin, end) of the file. */
export type ReadRange = (begin: number, end: number) => Promise<Uint8Array>;

export interface ReadGgufHeader {
  readonly header: GgufHeader;
  /** The first bytes of the file, the header among them. */
  readonly bytes: Uint8Array;
}

/** @throws FailureError CheckpointCorrupt, and what `read` throws */
export async function readGgufHeader(
  file: string,
  fileBytes: number,
  read: ReadRange,
  options: { readonly arrays: boolean },
): Promise<ReadGgufHeader> {
  let bytes = await read(0, Math.min(firstReadBytes, fileBytes));
  if (bytes.byteLength === 0) throw replaced(file, 0, fileBytes);
  for (;;) {
    const header = parseGgufHeader(file, bytes, fileBytes, options);
    if (header !== null) return { header, bytes };
    const end = Math.min(4 * bytes.byteLength, fileBytes, maxGgufHeaderBytes);
    const more = await read(bytes.byteLength, end);
    if (more.byteLength === 0) throw replaced(file, bytes.byteLength, fileBytes);
    const all = new Uint8Array(bytes.byteLength + more.byteLength);
    all.set(bytes);
    all.set(more, bytes.byteLength);
    bytes = all;
  }
}

/** Bytes that were there a moment ago: to ask for them again and again would never end. */
function replaced(file: string, at: number, fileBytes: number): FailureError {
  return new FailureError(
    'CheckpointCorrupt',
    `${file}: no bytes at ${String(at)} of ${String(fileBytes)}: it is empty, or was replaced while it was read`,
    { file },
  );
}
