// What the operator reads of checkpoints in safetensors: config.json, the weight index and the headers of weight files, by
// a few small reads. What is missing or cut short is a typed failure that names the file.

import {
  FailureError,
  headerLengthBytes,
  parseHeaderLength,
  parseSafetensorsHeader,
  parseSafetensorsIndex,
  safetensorsIndexFile,
  safetensorsSingleFile,
  type ListedFile,
  type SafetensorsIndex,
  type TensorEntry,
} from '@llmservice/crds';

export interface FileRange {
  readonly bytes: Uint8Array;
  /** Size of the whole file. */
  readonly fileBytes: number;
  readonly etag: string;
}

/** The folder of a checkpoint. Absent files are null; what cannot be read is a FailureError. */
export interface CheckpointFiles {
  read(file: string, mostBytes: number, beginAt?: number): Promise<FileRange | null>;
  /** Files directly in the folder, up to some thousands. */
  list(): Promise<readonly ListedFile[]>;
  /** As `read`, for a file that may well be absent. */
  readOptional(file: string, mostBytes: number): Promise<FileRange | null>;
  /** Called before more than a MiB is read to be parsed at once. Throws where that is to be done at another time. */
  beforeLong?(): void;
}

const mib = 2 ** 20;
export const mostConfigBytes = 4 * mib;
/** The largest mixtures of experts, 400,000 tensors, make some 45 MiB. */
const mostIndexBytes = 64 * mib;
/** Of one weight file: twice what 50 GB of such experts make. An engine takes longer ones. */
const mostHeaderBytes = 32 * mib;
const mostTensors = 500_000;
/** Most headers are smaller than this, so that one request per file is enough. */
const firstReadBytes = 64 * 1024;
const parallelReads = 4;

/** What is longer takes many times that while it is parsed. */
export const longReadBytes = mib;
/** An index of a MiB lists fewer. */
const longTensors = 50_000;

export function textOf(file: string, { bytes, fileBytes }: FileRange): string {
  if (bytes.byteLength < fileBytes) {
    throw new FailureError(
      'CheckpointCorrupt',
      `${file} has ${fileBytes} bytes, far more than such a file takes`,
    );
  }
  return new TextDecoder().decode(bytes);
}

export async function readIndex(
  files: CheckpointFiles,
  etags: Map<string, string>,
): Promise<SafetensorsIndex | null> {
  const parse = (range: FileRange | null): SafetensorsIndex | null => {
    if (range === null) return null;
    etags.set(safetensorsIndexFile, range.etag);
    return parseSafetensorsIndex(textOf(safetensorsIndexFile, range));
  };
  const first = await files.readOptional(safetensorsIndexFile, longReadBytes);
  if (first === null || first.fileBytes <= longReadBytes) return parse(first);
  files.beforeLong?.();
  return parse(await files.read(safetensorsIndexFile, mostIndexBytes));
}

interface ShardHeader {
  readonly file: string;
  readonly etag: string;
  readonly fileBytes: number;
  readonly tensors: readonly TensorEntry[];
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
  if (index !== null) checkIndex(index, headers);
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
      if (tensors > mostTensors) {
        throw new FailureError('CheckpointCorrupt', `the weight files hold more than ${mostTensors} tensors`);
      }
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, worker));
  if (absent.length > 0) {
    throw new FailureError('CheckpointIncomplete', `missing weight files: ${listed(absent.sort())}`);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** @param inTurn what is long takes many times its length while it is parsed: one after another */
async function readHeader(
  files: CheckpointFiles,
  file: string,
  inTurn: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<ShardHeader | null> {
  const first = await files.read(file, firstReadBytes);
  if (first === null) return null;
  const { fileBytes, etag } = first;
  const length = parseHeaderLength(file, first.bytes, fileBytes);
  if (length > mostHeaderBytes) {
    throw new FailureError(
      'CheckpointCorrupt',
      `${file}: its header has ${length} bytes; at most ${mostHeaderBytes} are read. Split it into more files`,
    );
  }
  const end = headerLengthBytes + length;
  const inFirst = first.bytes.subarray(headerLengthBytes, end);
  const missing = end - first.bytes.byteLength;
  const whole = async (): Promise<ShardHeader> => {
    const rest = missing > 0 ? await files.read(file, missing, first.bytes.byteLength) : null;
    const header = rest === null ? inFirst : Buffer.concat([inFirst, rest.bytes]);
    return { file, etag, fileBytes, tensors: parseSafetensorsHeader(file, header, fileBytes) };
  };
  if (length <= longReadBytes) return whole();
  files.beforeLong?.();
  return inTurn(whole);
}

/** Every tensor that the index promises is in the file that it names. */
function checkIndex(index: SafetensorsIndex, headers: readonly ShardHeader[]): void {
  const present = new Map(
    headers.map(({ file, tensors }) => [file, new Set(tensors.map(({ name }) => name))]),
  );
  const absent = [...index.weightMap].filter(([tensor, file]) => present.get(file)?.has(tensor) !== true);
  if (absent.length === 0) return;
  const named = absent.map(([tensor, file]) => `${tensor} (${file})`);
  throw new FailureError(
    'CheckpointIncomplete',
    `tensors that the index lists but their files lack: ${listed(named)}`,
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
