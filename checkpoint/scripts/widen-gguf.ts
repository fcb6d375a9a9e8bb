// A GGUF file with its tensors of type Q4_1 as BF16, all else as it was: keys byte for byte (general.file_type, which is a hint,
// included), other tensors too. Trusted input: a package whose digest is pinned.

import { GgufReader } from '../src/formats/gguf-reader.js';
import { ggufTypes } from '../src/formats/gguf-types.js';
import { readGgufValue } from '../src/formats/gguf-values.js';
import { parseGgufHeader, type GgufHeader, type GgufTensor } from '../src/formats/gguf-header.js';
import { q41Bytes, q41Columns, q41ToBf16 } from './q4-1.js';

/** Tensors of the new file. */
interface Written {
  readonly name: string;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly type: number;
  readonly bytes: Uint8Array;
}

const bf16 = 30;
const numberOfType = new Map([...ggufTypes].map(([type, { name }]) => [name, type]));

/**
 * @returns the new file, in parts
 * @throws FailureError CheckpointCorrupt; Error for a type that is neither Q4_1 nor read by the engine
 */
export function widenGguf(file: string, bytes: Uint8Array): Uint8Array[] {
  const header = parseGgufHeader(file, bytes, bytes.length, { arrays: false });
  if (header === null) throw new Error(`${file} ends within its header`);
  const alignment = Number(header.values.get('general.alignment') ?? 32);
  const padding = (length: number): Buffer => Buffer.alloc(-length & (alignment - 1));
  const tensors = header.tensors.map((tensor) => widened(header, bytes, tensor));

  const parts: Uint8Array[] = [bytes.subarray(0, endOfKeys(file, bytes))];
  const data: Uint8Array[] = [];
  let offset = 0;
  for (const tensor of tensors) {
    parts.push(entry(tensor, offset));
    const gap = padding(tensor.bytes.length);
    data.push(tensor.bytes, gap);
    offset += tensor.bytes.length + gap.length;
  }
  parts.push(padding(parts.reduce((sum, { length }) => sum + length, 0)));
  return [...parts, ...data];
}

function widened(
  { file }: GgufHeader,
  whole: Uint8Array,
  { name, dtype, shape, offset, bytes }: GgufTensor,
): Written {
  if (dtype === 'Q4_1') {
    const values = shape.reduce((product, side) => product * side, 1);
    const blocks = whole.subarray(offset, offset + (values / q41Columns) * q41Bytes);
    const wide = q41ToBf16(blocks);
    if (wide.length !== values) throw new Error(`${file}: tensor ${name} reaches behind the file`);
    return { name, shape, type: bf16, bytes: new Uint8Array(wide.buffer) };
  }
  const type = numberOfType.get(dtype);
  if (type === undefined || bytes === null) throw new Error(`${file}: tensor ${name} has type ${dtype}`);
  return { name, shape, type, bytes: whole.subarray(offset, offset + bytes) };
}

/** Where the tensors' entries begin. */
function endOfKeys(file: string, bytes: Uint8Array): number {
  const reader = new GgufReader(file, bytes, bytes.length);
  reader.take(8, 'mark and version');
  reader.u64('the number of tensors');
  const keys = reader.u64('the number of keys');
  for (let i = 0; i < keys; i++)
    readGgufValue(reader, false, `the value of key ${reader.name('the name of a key')}`);
  return reader.at;
}

/** Name, sides from the innermost, type and place. */
function entry({ name, shape, type }: Written, offset: number): Buffer {
  const text = Buffer.from(name);
  const numbers = Buffer.alloc(12 + 8 * shape.length + 12);
  numbers.writeBigUInt64LE(BigInt(text.length));
  numbers.writeUInt32LE(shape.length, 8);
  [...shape].reverse().forEach((side, i) => numbers.writeBigUInt64LE(BigInt(side), 12 + 8 * i));
  const at = 12 + 8 * shape.length;
  numbers.writeUInt32LE(type, at);
  numbers.writeBigUInt64LE(BigInt(offset), at + 4);
  return Buffer.concat([numbers.subarray(0, 8), text, numbers.subarray(8)]);
}
