// What the operator reads of checkpoints in safetensors: config.json, the weight index and the headers of weight files, by
// a few small reads. What is missing or cut short is a typed failure that names the file.

import {
  checkIndexed,
  headerLengthBytes,
  maxIndexBytes,
  maxTensors,
  missingFiles,
  parseHeaderLength,
  SafetensorsHeaderReader,
  safetensorsIndexFile,
  SafetensorsIndexReader,
  safetensorsSingleFile,
  type ListedFile,
  type SafetensorsIndex,
  type PlacedTensor,
  type TensorEntry,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';

export interface FileRange {
  readonly bytes: Uint8Array;
  /** Size of the whole file. */
  readonly fileBytes: number;
  readonly etag: string;
}

/** The folder of a checkpoint. Absent files are null; what cannot be read is a FailureError. */
export interface CheckpointFiles {
  read(file: string, maxBytes: number, beginAt?: number): Promise<FileRange | null>;
  /** Files directly in the folder, up to some thousands. */
  list(): Promise<readonly ListedFile[]>;
  /** As `read`, for a file that may well be absent. */
  readOptional(file: string, maxBytes: number): Promise<FileRange | null>;
  /** Called before more than a MiB is read to be parsed at once. Throws where that is to be done at another time. */
  beforeLong?(): void;
}

const configFile = 'config.json';
const mib = 2 ** 20;
const maxConfigBytes = 4 * mib;
/** Most headers are smaller than this, so that one request per file is enough. */
const firstReadBytes = 64 * 1024;
const parallelReads = 4;
/** Of what is long: it is parsed as it comes, and never there as a whole. */
const pieceBytes = 4 * mib;

/** What is longer takes many times that while it is parsed. */
export const longReadBytes = mib;
/** Judging these takes some tenths of a second. */
const longTensors = 20_000;

export interface ConfigFile {
  readonly text: string;
  readonly etag: string;
}

/** Null where the folder has none. */
export async function readConfig(files: CheckpointFiles): Promise<ConfigFile | null> {
  const first = await files.read(configFile, longReadBytes);
  const isLong = first !== null && first.fileBytes > longReadBytes;
  if (isLong) files.beforeLong?.();
  const range = isLong ? await files.read(configFile, maxConfigBytes) : first;
  if (range === null) return null;
  return { text: textOf(configFile, range), etag: range.etag };
}

/** Of a file that was to be read whole. @throws FailureError CheckpointCorrupt */
export function textOf(file: string, { bytes, fileBytes }: FileRange): string {
  if (bytes.byteLength < fileBytes) throw tooLong(file, fileBytes);
  return new TextDecoder().decode(bytes);
}

export async function readIndex(
  files: CheckpointFiles,
  etags: Map<string, string>,
): Promise<SafetensorsIndex | null> {
  const first = await files.readOptional(safetensorsIndexFile, longReadBytes);
  if (first === null) return null;
  const { fileBytes, etag } = first;
  if (fileBytes > maxIndexBytes) throw tooLong(safetensorsIndexFile, fileBytes);
  etags.set(safetensorsIndexFile, etag);
  const reader = new SafetensorsIndexReader();
  reader.write(first.bytes);
  if (fileBytes > first.bytes.byteLength) {
    files.beforeLong?.();
    await readPieces(files, safetensorsIndexFile, first.bytes.byteLength, fileBytes, reader);
  }
  return reader.end();
}

/** Bytes [begin, end) of a file, each piece parsed before the next is read. */
async function readPieces(
  files: CheckpointFiles,
  file: string,
  begin: number,
  end: number,
  reader: { write(bytes: Uint8Array): void },
): Promise<void> {
  for (let at = begin; at < end;) {
    const { bytes } = (await files.read(file, Math.min(pieceBytes, end - at), at)) ?? {};
    if (bytes === undefined || bytes.byteLength === 0) {
      throw new FailureError(
        'CheckpointCorrupt',
        `${file}: no bytes at ${at} of ${end}: it was replaced while it was read`,
      );
    }
    reader.write(bytes);
    at += bytes.byteLength;
  }
}

function tooLong(file: string, bytes: number): FailureError {
  return new FailureError('CheckpointCorrupt', `${file} has ${bytes} bytes, far more than such a file takes`);
}

interface ShardHeader {
  readonly file: string;
  readonly etag: string;
  readonly fileBytes: number;
  readonly tensors: readonly PlacedTensor[];
}

/** What the weight files of a folder hold. */
export interface Shards {
  readonly tensors: readonly TensorEntry[];
  readonly fileBytes: number;
}

/**
 * By the index, where there is one; else the one file.
 * @param etags gets what was read
 */
export async function readShards(files: CheckpointFiles, etags: Map<string, string>): Promise<Shards> {
  const index = await readIndex(files, etags);
  const headers = await readHeaders(files, index?.files ?? [safetensorsSingleFile]);
  for (const header of headers) etags.set(header.file, header.etag);
  if (index !== null) {
    checkIndexed(
      index,
      headers.flatMap(({ file, tensors }) => tensors.map(({ name }) => ({ file, name }))),
    );
  }
  return {
    tensors: headers.flatMap((header) => header.tensors),
    fileBytes: headers.reduce((sum, header) => sum + header.fileBytes, 0),
  };
}

/** All headers, a few at a time; every absent file is named, not the first alone. */
export async function readHeaders(files: CheckpointFiles, names: readonly string[]): Promise<ShardHeader[]> {
  const found: ShardHeader[] = [];
  const absent: string[] = [];
  const queue = [...names];
  let tensors = 0;
  let long: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = long.then(work);
    long = turn.catch(() => undefined);
    return turn;
  };
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const header = await readHeader(files, file, inTurn);
      if (header === null) absent.push(file);
      else found.push(header);
      tensors += header?.tensors.length ?? 0;
      if (tensors > longTensors) files.beforeLong?.();
      if (tensors > maxTensors) {
        throw new FailureError('CheckpointCorrupt', `the weight files hold more than ${maxTensors} tensors`);
      }
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, worker));
  if (absent.length > 0) throw missingFiles(absent);
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** @param inTurn what is long takes many times its length while it is parsed: one after another */
export async function readHeader(
  files: CheckpointFiles,
  file: string,
  inTurn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<ShardHeader | null> {
  const first = await files.read(file, firstReadBytes);
  if (first === null) return null;
  const { fileBytes, etag, bytes } = first;
  const length = parseHeaderLength(file, bytes, fileBytes);
  const end = headerLengthBytes + length;
  const reader = new SafetensorsHeaderReader(file);
  // What is no header is refused by its first bytes.
  reader.write(bytes.subarray(headerLengthBytes, end));
  const whole = async (): Promise<ShardHeader> => {
    await readPieces(files, file, bytes.byteLength, end, reader);
    return { file, etag, fileBytes, tensors: reader.end(fileBytes) };
  };
  if (length <= longReadBytes) return whole();
  files.beforeLong?.();
  return inTurn(whole);
}
