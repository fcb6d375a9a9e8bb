// The safetensors container: the index of a sharded checkpoint, and the header that opens each file.
// Pure parsing of bytes that were read elsewhere; every inconsistency is a typed failure that names the file.

import { FailureError } from './failures.js';
import { parseJsonObject } from './parse-json.js';

export const safetensorsIndexFile = 'model.safetensors.index.json';
export const safetensorsSingleFile = 'model.safetensors';

/** A file opens with the header's length as little-endian u64. */
export const headerLengthBytes = 8;

/** Far above any real header (the largest published ones take some MiB): more than this is not a header. */
const maxHeaderBytes = 64 * 1024 * 1024;

const sizeOfDtype: ReadonlyMap<unknown, number> = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2', 'F8_E8M0'].map((name) => [name, 1] as const),
  ...['I16', 'U16', 'F16', 'BF16'].map((name) => [name, 2] as const),
  ...['I32', 'U32', 'F32'].map((name) => [name, 4] as const),
  ...['I64', 'U64', 'F64'].map((name) => [name, 8] as const),
]);

export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Length of the tensor's data in the file. */
  readonly bytes: number;
}

export interface SafetensorsIndex {
  /** Distinct shard files, sorted. */
  readonly files: readonly string[];
  /** `metadata.total_size`; null where the index does not say. */
  readonly totalSizeBytes: number | null;
  /** Tensor name → file. */
  readonly weightMap: ReadonlyMap<string, string>;
}

/** @throws FailureError CheckpointCorrupt */
export function parseSafetensorsIndex(text: string): SafetensorsIndex {
  const index = readJsonObject(text, safetensorsIndexFile);
  const map = index['weight_map'];
  if (typeof map !== 'object' || map === null || Object.keys(map).length === 0) {
    throw corrupt(safetensorsIndexFile, 'weight_map is missing or empty');
  }
  const weightMap = new Map<string, string>();
  for (const [tensor, file] of Object.entries(map as Record<string, unknown>)) {
    // A path out of the checkpoint's folder would make the puller write elsewhere.
    if (typeof file !== 'string' || !/^[\w.-]+\.safetensors$/.test(file)) {
      throw corrupt(safetensorsIndexFile, `weight_map of ${tensor} is not the name of a .safetensors file`);
    }
    weightMap.set(tensor, file);
  }
  const total = (index['metadata'] as { total_size?: unknown } | undefined)?.total_size;
  return {
    files: [...new Set(weightMap.values())].sort(),
    totalSizeBytes: typeof total === 'number' && Number.isInteger(total) && total > 0 ? total : null,
    weightMap,
  };
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
  if (length < 2n || length > BigInt(Math.min(maxHeaderBytes, fileBytes - headerLengthBytes))) {
    throw corrupt(file, `its header claims ${length.toString()} bytes in a file of ${String(fileBytes)}`);
  }
  return Number(length);
}

/**
 * Tensors of one file. The header's offsets must cover the data without gap or overlap, and end where the file ends.
 * @param header the JSON that follows the length
 * @throws FailureError CheckpointCorrupt; CheckpointIncomplete when the file is shorter than its header says
 */
export function parseSafetensorsHeader(file: string, header: Uint8Array, fileBytes: number): TensorEntry[] {
  const entries = readJsonObject(new TextDecoder().decode(header), file);
  const tensors = Object.entries(entries)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => readTensor(file, name, value))
    .sort((a, b) => a.begin - b.begin);
  let end = 0;
  for (const tensor of tensors) {
    if (tensor.begin !== end)
      throw corrupt(file, `tensor ${tensor.name} begins at ${String(tensor.begin)}, not ${String(end)}`);
    end += tensor.bytes;
  }
  const expected = headerLengthBytes + header.byteLength + end;
  if (fileBytes < expected) {
    throw new FailureError(
      'CheckpointIncomplete',
      `${file} is cut short: ${String(fileBytes)} bytes of the ${String(expected)} that its header describes`,
      { file, bytes: fileBytes, expected },
    );
  }
  if (fileBytes > expected) {
    throw corrupt(file, `${String(fileBytes)} bytes, but its header describes ${String(expected)}`);
  }
  return tensors.map(({ name, dtype, shape, bytes }) => ({ name, dtype, shape, bytes }));
}

function readTensor(file: string, name: string, value: unknown): TensorEntry & { begin: number } {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  const size = sizeOfDtype.get(dtype);
  if (size === undefined)
    throw corrupt(file, `tensor ${name} has the unknown dtype ${JSON.stringify(dtype)}`);
  if (!isCounts(shape)) throw corrupt(file, `tensor ${name} has no valid shape`);
  if (!isCounts(offsets) || offsets.length !== 2)
    throw corrupt(file, `tensor ${name} has no valid data_offsets`);
  const [begin, end] = offsets as [number, number];
  const bytes = shape.reduce((product, side) => product * side, size);
  if (end - begin !== bytes) {
    throw corrupt(
      file,
      `tensor ${name} takes ${String(end - begin)} bytes, but its shape and dtype need ${String(bytes)}`,
    );
  }
  return { name, dtype: dtype as string, shape, bytes, begin };
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && (item as number) >= 0);
}

function readJsonObject(text: string, file: string): Record<string, unknown> {
  try {
    return parseJsonObject(file, text);
  } catch (error) {
    throw new FailureError('CheckpointCorrupt', (error as Error).message, { file });
  }
}

function corrupt(file: string, problem: string): FailureError {
  return new FailureError('CheckpointCorrupt', `${file}: ${problem}`, { file });
}
