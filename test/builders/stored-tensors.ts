// The tensors of a checkpoint in safetensors, taken apart and put together anew: without its layer for multi-token
// prediction, with that layer alone, or with FP8 matrices widened to BF16.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StoredTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: Buffer;
}

/** By name. */
export type StoredTensors = ReadonlyMap<string, StoredTensor>;

export const isOfMtp = (name: string): boolean => name.startsWith('mtp.');
export const isOfTrunk = (name: string): boolean => !isOfMtp(name);

export function readStoredTensors(dir: string): StoredTensors {
  const files = readdirSync(dir).filter((name) => name.endsWith('.safetensors'));
  return new Map(files.flatMap((file) => [...readStoredFile(join(dir, file))]));
}

/** Those of one file. */
export function readStoredFile(path: string): StoredTensors {
  const bytes = readFileSync(path);
  const begin = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, begin)) as Record<string, Entry>;
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
  return new Map(
    entries.map(([name, { dtype, shape, data_offsets: offsets }]) => [
      name,
      { dtype, shape, data: bytes.subarray(begin + offsets[0], begin + offsets[1]) },
    ]),
  );
}

interface Entry {
  readonly dtype: string;
  readonly shape: number[];
  readonly data_offsets: [number, number];
}

export function only(tensors: StoredTensors, wanted: (name: string) => boolean): StoredTensors {
  return new Map([...tensors].filter(([name]) => wanted(name)));
}

/** A safetensors file. */
export function storedFile(tensors: StoredTensors): Buffer {
  let end = 0;
  const entries = [...tensors].map(([name, { dtype, shape, data }]) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype, shape, data_offsets: [begin, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, ...[...tensors.values()].map(({ data }) => data)]);
}

/** FP8 matrices with 128x128 blocks as BF16, the low bits cut off; their scales go. */
export function widened(tensors: StoredTensors): StoredTensors {
  const wide = new Map<string, StoredTensor>();
  for (const [name, tensor] of tensors) {
    if (name.endsWith('_scale_inv')) continue;
    const scales = tensors.get(`${name}_scale_inv`);
    wide.set(name, scales === undefined ? tensor : widen(tensor, scales));
  }
  return wide;
}

/** BF16 as float32: the same numbers. */
export function asFloat32(tensors: StoredTensors): StoredTensors {
  return new Map(
    [...tensors].map(([name, tensor]) => [name, tensor.dtype === 'BF16' ? longer(tensor) : tensor]),
  );
}

function longer({ shape, data }: StoredTensor): StoredTensor {
  const long = Buffer.alloc(2 * data.byteLength);
  for (let at = 0; at < data.byteLength; at += 2) data.copy(long, 2 * at + 2, at, at + 2);
  return { dtype: 'F32', shape, data: long };
}

function widen({ shape, data }: StoredTensor, scales: StoredTensor): StoredTensor {
  const [rows = 0, columns = 0] = shape;
  const across = Math.ceil(columns / 128);
  const wide = Buffer.alloc(2 * rows * columns);
  for (let at = 0; at < rows * columns; at++) {
    const block = Math.floor(Math.floor(at / columns) / 128) * across + Math.floor((at % columns) / 128);
    wide.writeUInt16LE(upperHalf(fromE4m3(data[at]!) * scaleAt(scales, block)), 2 * at);
  }
  return { dtype: 'BF16', shape, data: wide };
}

function scaleAt({ dtype, data }: StoredTensor, index: number): number {
  if (dtype === 'F32') return data.readFloatLE(4 * index);
  const float = Buffer.alloc(4);
  data.copy(float, 2, 2 * index, 2 * index + 2);
  return float.readFloatLE(0);
}

/** Sign, four bits of exponent (bias 7), three of mantissa; there are no infinities. */
function fromE4m3(code: number): number {
  const exponent = (code >> 3) & 15;
  const mantissa = code & 7;
  const value = exponent === 0 ? mantissa * 2 ** -9 : (8 + mantissa) * 2 ** (exponent - 10);
  return code & 128 ? -value : value;
}

function upperHalf(value: number): number {
  const float = Buffer.alloc(4);
  float.writeFloatLE(value);
  return float.readUInt16LE(2);
}
