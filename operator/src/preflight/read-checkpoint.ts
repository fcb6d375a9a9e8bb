// Judges a checkpoint by a few small reads, before any device is taken: config.json, the weight index, and the header
// of every weight file, or the header of a GGUF file, which is all of these. What is missing, cut short or unsupported is a typed failure that names the file.

import {
  checkLoadQuantization,
  checkSpeculative,
  chooseGguf,
  FailureError,
  hasGgufTokenizer,
  headerLengthBytes,
  parseCheckpointConfig,
  parseHeaderLength,
  parseSafetensorsHeader,
  parseSafetensorsIndex,
  readGgufCheckpoint,
  readGgufHeader,
  residentWeightBytes,
  safetensorsIndexFile,
  safetensorsSingleFile,
  type HoldOptions,
  type ModelShape,
  type SafetensorsIndex,
  type TensorEntry,
} from '@llmservice/crds';
import { contentHash } from '../plan/content-hash.js';

export interface FileRange {
  readonly bytes: Uint8Array;
  /** Size of the whole file. */
  readonly fileBytes: number;
  readonly etag: string;
}

/** The folder of a checkpoint. Absent files are null; what cannot be read is a FailureError. */
export interface CheckpointFiles {
  read(file: string, mostBytes: number, beginAt?: number): Promise<FileRange | null>;
  /** Names of the first thousand files. */
  list(): Promise<readonly string[]>;
  /** As `read`, for a file that may well be absent. */
  readOptional(file: string, mostBytes: number): Promise<FileRange | null>;
}

export interface Checkpoint {
  readonly shape: ModelShape;
  /** Packed weights over all ranks. */
  readonly weightBytes: number;
  /** Weight files as they lie in the bucket. */
  readonly fileBytes: number;
  /** Changes when any file that was read changes. */
  readonly fingerprint: string;
}

const tokenizerFile = 'tokenizer.json';
const mib = 2 ** 20;
const mostConfigBytes = 4 * mib;
const mostIndexBytes = 64 * mib;
/** Most headers are smaller than this, so that one request per file is enough. */
const firstReadBytes = 64 * 1024;
const parallelReads = 4;

/**
 * @param gguf the GGUF file that the resource names; null for a folder
 * @throws FailureError
 */
export async function readCheckpoint(
  files: CheckpointFiles,
  gguf: string | null,
  options: HoldOptions,
): Promise<Checkpoint> {
  if (gguf !== null) return readGguf(files, gguf, options);
  const config = await files.read('config.json', mostConfigBytes);
  if (config !== null) return readSafetensors(files, config, options);
  const only = chooseGguf('the folder', await files.list());
  if (only !== null) return readGguf(files, only, options);
  throw new FailureError('ModelNotFound', 'the folder has no config.json and no .gguf file');
}

async function readGguf(files: CheckpointFiles, file: string, options: HoldOptions): Promise<Checkpoint> {
  const first = await files.read(file, 1);
  if (first === null) throw new FailureError('ModelNotFound', `there is no ${file}`);
  const read = async (begin: number, end: number): Promise<Uint8Array> => {
    const range = begin === end ? null : await files.read(file, end - begin, begin);
    return range?.bytes ?? new Uint8Array();
  };
  const { header } = await readGgufHeader(file, first.fileBytes, read, { arrays: false });
  const { shape, tensors } = readGgufCheckpoint(header);
  checkLoadQuantization(shape.quantization, options.quantization);
  checkSpeculative(tensors, options.speculative);
  // One that lies beside the file is taken instead of the file's own.
  const tokenizer = await files.readOptional(tokenizerFile, 1);
  if (tokenizer === null && !hasGgufTokenizer(header)) {
    throw new FailureError(
      'TokenizerMissing',
      `${file} has no tokenizer (tokenizer.ggml.model), and there is no tokenizer.json beside it`,
    );
  }
  return {
    shape,
    weightBytes: residentWeightBytes(tensors, shape, options),
    fileBytes: first.fileBytes,
    fingerprint: contentHash([
      [file, first.etag],
      ...(tokenizer === null ? [] : [[tokenizerFile, tokenizer.etag]]),
    ]),
  };
}

async function readSafetensors(
  files: CheckpointFiles,
  config: FileRange,
  options: HoldOptions,
): Promise<Checkpoint> {
  const etags = new Map<string, string>();
  etags.set('config.json', config.etag);
  const shape = parseCheckpointConfig(textOf('config.json', config));
  checkLoadQuantization(shape.quantization, options.quantization);

  const tokenizer = await files.read(tokenizerFile, 1);
  if (tokenizer === null) throw new FailureError('TokenizerMissing', 'the folder has no tokenizer.json');
  etags.set(tokenizerFile, tokenizer.etag);

  const index = await readIndex(files, etags);
  const headers = await readHeaders(files, index?.files ?? [safetensorsSingleFile]);
  for (const header of headers) etags.set(header.file, header.etag);
  if (index !== null) checkIndex(index, headers);
  const tensors = headers.flatMap((header) => header.tensors);
  checkSpeculative(tensors, options.speculative);
  return {
    shape,
    weightBytes: residentWeightBytes(tensors, shape, options),
    fileBytes: headers.reduce((sum, header) => sum + header.fileBytes, 0),
    fingerprint: contentHash([...etags].sort()),
  };
}

function textOf(file: string, { bytes, fileBytes }: FileRange): string {
  if (bytes.byteLength < fileBytes) {
    throw new FailureError(
      'CheckpointCorrupt',
      `${file} has ${fileBytes} bytes, far more than such a file takes`,
    );
  }
  return new TextDecoder().decode(bytes);
}

async function readIndex(
  files: CheckpointFiles,
  etags: Map<string, string>,
): Promise<SafetensorsIndex | null> {
  const range = await files.readOptional(safetensorsIndexFile, mostIndexBytes);
  if (range === null) return null;
  etags.set(safetensorsIndexFile, range.etag);
  return parseSafetensorsIndex(textOf(safetensorsIndexFile, range));
}

interface ShardHeader {
  readonly file: string;
  readonly etag: string;
  readonly fileBytes: number;
  readonly tensors: readonly TensorEntry[];
}

/** All headers, a few at a time; every absent file is named, not the first alone. */
async function readHeaders(files: CheckpointFiles, names: readonly string[]): Promise<ShardHeader[]> {
  const found: ShardHeader[] = [];
  const absent: string[] = [];
  const queue = [...names];
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const header = await readHeader(files, file);
      if (header === null) absent.push(file);
      else found.push(header);
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, worker));
  if (absent.length > 0) {
    throw new FailureError('CheckpointIncomplete', `missing weight files: ${listed(absent.sort())}`);
  }
  return found.sort((a, b) => (a.file < b.file ? -1 : 1));
}

async function readHeader(files: CheckpointFiles, file: string): Promise<ShardHeader | null> {
  const first = await files.read(file, firstReadBytes);
  if (first === null) return null;
  const { fileBytes, etag } = first;
  const length = parseHeaderLength(file, first.bytes, fileBytes);
  const end = headerLengthBytes + length;
  const inFirst = first.bytes.subarray(headerLengthBytes, end);
  const missing = end - first.bytes.byteLength;
  const rest = missing > 0 ? await files.read(file, missing, first.bytes.byteLength) : null;
  const header = rest === null ? inFirst : Buffer.concat([inFirst, rest.bytes]);
  return { file, etag, fileBytes, tensors: parseSafetensorsHeader(file, header, fileBytes) };
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
