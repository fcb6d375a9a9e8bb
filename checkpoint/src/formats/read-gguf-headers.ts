// Reads the headers of a GGUF checkpoint's files, each by ranges that grow until it is whole: nothing says beforehand how
// long it is.

import { FailureError } from '@llmservice/crds';
import { parseGgufHeader, type GgufFileHeader, type GgufHeader } from './gguf-header.js';
import { GgufParts } from './gguf-parts.js';
import { maxGgufHeaderBytes } from './gguf-reader.js';

/** Vocabularies make headers longer than this. */
const firstReadBytes = 2 ** 20;
/** Parts behind the first have neither vocabulary nor other metadata. */
const partReadBytes = 2 ** 16;
/** Of all parts behind the first: names and places of as many tensors as there may be, in some hundred bytes each. */
const maxPartsBytes = 64 * 2 ** 20;

/** Bytes [begin, end) of a file. */
export type ReadRange = (file: string, begin: number, end: number) => Promise<Uint8Array>;

export interface GgufFile {
  readonly name: string;
  readonly bytes: number;
}

export interface ReadGgufHeaders {
  /** Of the whole checkpoint: metadata, and the tensors of all files. */
  readonly header: GgufHeader;
  /** The first bytes of each file, its header among them. */
  readonly heads: ReadonlyMap<string, Uint8Array>;
}

/**
 * @param files the checkpoint's, in their order; of the first, `maxBytes` are read at most
 * @throws FailureError CheckpointCorrupt, CheckpointIncomplete, and what `read` throws
 */
export async function readGgufHeaders(
  files: readonly GgufFile[],
  read: ReadRange,
  options: { readonly arrays: boolean; readonly maxBytes?: number },
): Promise<ReadGgufHeaders> {
  const parts = new GgufParts();
  const heads = new Map<string, Uint8Array>();
  let left = maxPartsBytes;
  for (const [at, file] of files.entries()) {
    const first = {
      firstReadBytes,
      arrays: options.arrays,
      maxBytes: options.maxBytes ?? maxGgufHeaderBytes,
    };
    const later = { firstReadBytes: partReadBytes, arrays: false, maxBytes: left };
    const { header, bytes } = await readHeader(file, read, at === 0 ? first : later);
    parts.add(header);
    // Not all that was read: there may be hundreds of parts.
    heads.set(file.name, at === 0 ? bytes : bytes.slice(0, header.headerBytes));
    if (at > 0) left -= header.headerBytes;
  }
  return { header: parts.joined(), heads };
}

interface HeaderLimits {
  readonly firstReadBytes: number;
  readonly arrays: boolean;
  readonly maxBytes: number;
}

async function readHeader(
  { name, bytes: fileBytes }: GgufFile,
  read: ReadRange,
  { firstReadBytes: firstBytes, arrays, maxBytes }: HeaderLimits,
): Promise<{ readonly header: GgufFileHeader; readonly bytes: Uint8Array }> {
  let bytes = await read(name, 0, Math.min(firstBytes, fileBytes));
  if (bytes.byteLength === 0) throw replaced(name, 0, fileBytes);
  for (;;) {
    const header = parseGgufHeader(name, bytes, fileBytes, { arrays });
    if ((header?.headerBytes ?? bytes.byteLength + 1) > maxBytes) throw tooLong(name, maxBytes);
    if (header !== null) return { header, bytes };
    const end = Math.min(4 * bytes.byteLength, fileBytes, maxBytes);
    const more = await read(name, bytes.byteLength, end);
    if (more.byteLength === 0) throw replaced(name, bytes.byteLength, fileBytes);
    const all = new Uint8Array(bytes.byteLength + more.byteLength);
    all.set(bytes);
    all.set(more, bytes.byteLength);
    bytes = all;
  }
}

function tooLong(file: string, maxBytes: number): FailureError {
  return new FailureError(
    'CheckpointCorrupt',
    `${file}: its header has more than ${String(maxBytes)} bytes, far more than such a file takes`,
    { file },
  );
}

/** Bytes that were there a moment ago: to ask for them again and again would never end. */
function replaced(file: string, at: number, fileBytes: number): FailureError {
  return new FailureError(
    'CheckpointCorrupt',
    `${file}: no bytes at ${String(at)} of ${String(fileBytes)}: it is empty, or was replaced while it was read`,
    { file },
  );
}
