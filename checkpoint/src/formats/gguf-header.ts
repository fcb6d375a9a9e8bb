// The header of a GGUF file: metadata, and where each tensor lies. All of it is untrusted: every count and length is
// held against the file's size, or a limit, before memory is taken. Why ours: @huggingface/gguf believes counts and lengths,
// keeps every vocabulary as values, and fetches from a URL or path by itself, where ours come by S3 with credentials.
// Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md

import { GgufReader, headerGoesOn } from './gguf-reader.js';
import { ggufTypeName, ggufTypes } from './gguf-types.js';
import { readGgufValue, type GgufValue } from './gguf-values.js';

export interface GgufTensor {
  readonly name: string;
  /** That its data is in. */
  readonly file: string;
  /** As GGUF tools call it; not all are read. */
  readonly dtype: string;
  /** Row-major, outermost first. */
  readonly shape: readonly number[];
  /** From the start of the file. */
  readonly offset: number;
  /** Length of the data; null for a type that is not read. */
  readonly bytes: number | null;
}

export interface GgufHeader {
  readonly file: string;
  /** Those of a vocabulary only where they were asked for. */
  readonly values: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

/** Of one file. */
export interface GgufFileHeader extends GgufHeader {
  readonly headerBytes: number;
}

const maxKeys = 65_536;
export const maxGgufTensors = 262_144;
const maxDims = 4;

/**
 * Parses a header from the file's first bytes; null when it continues behind them.
 * @param options.arrays whether all arrays are kept, as the tokenizer needs them
 * @throws FailureError CheckpointCorrupt, naming the key or tensor
 */
export function parseGgufHeader(
  file: string,
  bytes: Uint8Array,
  fileBytes: number,
  options: { readonly arrays: boolean },
): GgufFileHeader | null {
  const reader = new GgufReader(file, bytes, fileBytes);
  try {
    expectFormat(reader);
    const tensorCount = reader.count('the number of tensors', maxGgufTensors);
    const keyCount = reader.count('the number of keys', maxKeys);
    const values = readValues(reader, keyCount, options.arrays);
    const tensors = placed(reader, values, readTensors(reader, file, tensorCount));
    return { file, values, tensors, headerBytes: reader.at };
  } catch (error) {
    if (error === headerGoesOn) return null;
    throw error;
  }
}

function expectFormat(reader: GgufReader): void {
  if (reader.fileBytes < 24 || reader.text(4, 'the file’s mark') !== 'GGUF') {
    throw reader.corrupt('it does not begin with GGUF, as GGUF files do');
  }
  const version = reader.u32('the version');
  if (version === 2 || version === 3) return;
  const swapped = version !== 0 && (version & 0xffff) === 0;
  throw reader.corrupt(
    swapped
      ? 'it is big-endian; convert it on a little-endian machine'
      : `it has version ${String(version)} of the format; 2 and 3 are read`,
  );
}

function readValues(reader: GgufReader, count: number, arrays: boolean): Map<string, GgufValue> {
  const values = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const key = reader.name('the name of a key');
    if (values.has(key)) throw reader.corrupt(`key ${key} is there twice`);
    const value = readGgufValue(reader, arrays, `the value of key ${key}`);
    if (value !== null) values.set(key, value);
  }
  return values;
}

function readTensors(reader: GgufReader, file: string, count: number): GgufTensor[] {
  const tensors = new Map<string, GgufTensor>();
  for (let i = 0; i < count; i++) {
    const tensor = readTensor(reader, file);
    if (tensors.has(tensor.name)) throw reader.corrupt(`tensor ${tensor.name} is there twice`);
    tensors.set(tensor.name, tensor);
  }
  return [...tensors.values()];
}

/** Its offset counts from the beginning of the data. */
function readTensor(reader: GgufReader, file: string): GgufTensor {
  const name = reader.name('the name of a tensor');
  const what = `the entry of tensor ${name}`;
  const dims = reader.u32(what);
  if (dims === 0 || dims > maxDims) {
    throw reader.corrupt(`tensor ${name} has ${String(dims)} dimensions; expected 1 to ${String(maxDims)}`);
  }
  // Innermost first in the file.
  const shape = Array.from({ length: dims }, () => reader.u64(what)).reverse();
  const elements = shape.reduce((product, side) => product * side, 1);
  if (elements === 0 || elements * 4 > Number.MAX_SAFE_INTEGER) {
    throw reader.corrupt(
      `tensor ${name} has the sides ${shape.join(', ')}, which are 0 or larger than any memory`,
    );
  }
  const type = reader.u32(what);
  const offset = reader.u64(what);
  return {
    name,
    file,
    dtype: ggufTypeName(type),
    shape,
    offset,
    bytes: storedBytes(reader, name, type, shape, elements),
  };
}

function storedBytes(
  reader: GgufReader,
  name: string,
  type: number,
  shape: readonly number[],
  elements: number,
): number | null {
  const known = ggufTypes.get(type);
  if (known === undefined) return null;
  const columns = shape.at(-1) ?? 1;
  if (columns % known.columns !== 0) {
    throw reader.corrupt(
      `tensor ${name} has rows of ${String(columns)} columns, which blocks of ${String(known.columns)} ` +
        `(${known.name}) do not divide`,
    );
  }
  return (elements / known.columns) * known.bytes;
}

/** Data begins at the next multiple of the alignment; offsets count from there. */
function placed(
  reader: GgufReader,
  values: ReadonlyMap<string, GgufValue>,
  tensors: readonly GgufTensor[],
): GgufTensor[] {
  const alignment = values.get('general.alignment') ?? 32;
  if (
    typeof alignment !== 'number' ||
    alignment < 8 ||
    alignment > 2 ** 20 ||
    !Number.isInteger(Math.log2(alignment))
  ) {
    throw reader.corrupt(
      `key general.alignment is ${String(alignment)}; expected a power of two from 8 to 1048576`,
    );
  }
  const data = Math.ceil(reader.at / alignment) * alignment;
  return tensors.map((tensor) => {
    if (tensor.offset % alignment !== 0) {
      throw reader.corrupt(
        `tensor ${tensor.name} lies at offset ${String(tensor.offset)}, which is not a multiple of the alignment of ` +
          String(alignment),
      );
    }
    const end = data + tensor.offset + (tensor.bytes ?? 0);
    if (end > reader.fileBytes) {
      throw reader.corrupt(
        `the file ends at byte ${String(reader.fileBytes)} but tensor ${tensor.name} reaches byte ${String(end)}: ` +
          'the file is truncated',
      );
    }
    return { ...tensor, offset: data + tensor.offset };
  });
}
