// The values of a GGUF header's keys: numbers, flags, texts, and arrays of them.

import type { GgufReader } from './gguf-reader.js';

export type GgufScalar = number | boolean | string;
export type GgufValue = GgufScalar | readonly GgufScalar[];

const maxTextBytes = 4 * 2 ** 20;
/** Arrays of numbers and flags, which may have one for each layer, are kept up to this length, whether asked for or not. */
const shortArray = 4096;
const text = 8;
const array = 9;

/** A number or flag: its length, and how it is read. */
type ScalarType = readonly [bytes: number, read: (view: DataView, at: number) => GgufScalar];

/** By the number that stands for the type in the file. */
const scalars: ReadonlyMap<number, ScalarType> = new Map<number, ScalarType>([
  [0, [1, (view, at) => view.getUint8(at)]],
  [1, [1, (view, at) => view.getInt8(at)]],
  [2, [2, (view, at) => view.getUint16(at, true)]],
  [3, [2, (view, at) => view.getInt16(at, true)]],
  [4, [4, (view, at) => view.getUint32(at, true)]],
  [5, [4, (view, at) => view.getInt32(at, true)]],
  [6, [4, (view, at) => view.getFloat32(at, true)]],
  [7, [1, (view, at) => view.getUint8(at) !== 0]],
  [10, [8, (view, at) => Number(view.getBigUint64(at, true))]],
  [11, [8, (view, at) => Number(view.getBigInt64(at, true))]],
  [12, [8, (view, at) => view.getFloat64(at, true)]],
]);

/**
 * Reads a value behind its type's number.
 * @param arrays whether those of a vocabulary's length are kept; null for one that is passed over
 */
export function readGgufValue(reader: GgufReader, arrays: boolean, what: string): GgufValue | null {
  const type = reader.u32(what);
  if (type === text) return shortText(reader, what);
  if (type === array) return readArray(reader, arrays, what);
  const [bytes, read] = scalarType(reader, type, what);
  return read(reader.view, reader.take(bytes, what));
}

function scalarType(reader: GgufReader, type: number, what: string): ScalarType {
  const scalar = scalars.get(type);
  if (scalar === undefined) throw reader.corrupt(`${what} has type ${String(type)}, which is not read`);
  return scalar;
}

function shortText(reader: GgufReader, what: string): string {
  const bytes = reader.u64(what);
  if (bytes > maxTextBytes)
    throw reader.corrupt(`${what} has ${String(bytes)} bytes; at most ${String(maxTextBytes)} are read`);
  return reader.text(bytes, what);
}

function readArray(reader: GgufReader, arrays: boolean, what: string): readonly GgufScalar[] | null {
  const type = reader.u32(what);
  const count = reader.u64(what);
  if (type === text) return textArray(reader, arrays, count, what);
  const kept = arrays || count <= shortArray;
  const [bytes, read] = scalarType(reader, type, what);
  const begin = reader.take(count * bytes, what);
  if (kept) reader.array(count, what);
  return kept ? Array.from({ length: count }, (_, i) => read(reader.view, begin + i * bytes)) : null;
}

function textArray(reader: GgufReader, kept: boolean, count: number, what: string): string[] | null {
  // Each has its length of 8 bytes, so that the file bounds their number.
  if (count > reader.fileBytes / 8) reader.take(reader.fileBytes, what);
  reader.array(count, what);
  const texts: string[] = [];
  for (let i = 0; i < count; i++) {
    if (kept) texts.push(shortText(reader, what));
    else reader.take(reader.u64(what), what);
  }
  return kept ? texts : null;
}
