// Splits GGUF files for tests, as llama.cpp's gguf-split does: all metadata in the first part, in every part the three keys of
// a split, and tensors in their order. Reads and writes bytes by itself, so that it shares no mistake with the reader.

import { ggufPartName } from './gguf-part-names.js';

export interface GgufPart {
  /** `split.no`, `split.count` and `split.tensors.count`; null: the key is missing. */
  readonly no: number | null;
  readonly count: number | null;
  readonly tensorsCount: number | null;
  /** By their names. */
  readonly tensors: readonly string[];
}

/** Of one part, with its place in the set, and the names of the whole file's tensors. */
export type ChangePart = (part: GgufPart, at: number, tensors: readonly string[]) => GgufPart;

/** Its files by name; where `emptyFirst`, the first has no tensor. */
export function splitGguf(
  whole: Buffer,
  stem: string,
  parts: number,
  { emptyFirst = false, change = (part) => part }: { emptyFirst?: boolean; change?: ChangePart } = {},
): Record<string, Buffer> {
  const file = readFile(whole);
  const names = [...file.tensors.keys()];
  const filled = emptyFirst ? parts - 1 : parts;
  const length = Math.ceil(names.length / filled);
  const files = Array.from({ length: parts }, (_, at): [string, Buffer] => {
    const begin = (emptyFirst ? at - 1 : at) * length;
    const tensors = begin < 0 ? [] : names.slice(begin, begin + length);
    const part = { no: at, count: parts, tensorsCount: names.length, tensors };
    return [ggufPartName(stem, at + 1, parts), partOf(file, change(part, at, names), at === 0)];
  });
  return Object.fromEntries(files);
}

const alignment = 32;
const uint16 = 2;
const int32 = 5;
const string = 8;
const list = 9;
/** Of values, by the number of their type. */
const valueBytes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

interface WholeFile {
  readonly keys: number;
  readonly keyBytes: Buffer;
  readonly tensors: ReadonlyMap<string, { readonly entry: Buffer; readonly data: Buffer }>;
}

function readFile(bytes: Buffer): WholeFile {
  let at = 24;
  const number = (length: 4 | 8): number => {
    at += length;
    return length === 4 ? bytes.readUInt32LE(at - 4) : Number(bytes.readBigUInt64LE(at - 8));
  };
  const text = (): string => {
    const length = number(8);
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const skip = (type: number): void => {
    if (type === string) text();
    else if (type === list) {
      const [of, count] = [number(4), number(8)];
      for (let i = 0; i < count; i++) skip(of);
    } else at += valueBytes[type] ?? 0;
  };
  const keys = Number(bytes.readBigUInt64LE(16));
  for (let i = 0; i < keys; i++) {
    text();
    skip(number(4));
  }
  const keyBytes = bytes.subarray(24, at);
  const places = Array.from({ length: Number(bytes.readBigUInt64LE(8)) }, () => {
    const begin = at;
    const name = text();
    const sides = number(4);
    at += 8 * sides + 4;
    const entry = bytes.subarray(begin, at);
    return { name, entry, offset: number(8) };
  });
  const data = bytes.subarray(Math.ceil(at / alignment) * alignment);
  const ends = [...places.map(({ offset }) => offset), data.length].sort((a, b) => a - b);
  const tensors = places.map(({ name, entry, offset }) => {
    const end = ends.find((each) => each > offset);
    return [name, { entry, data: data.subarray(offset, end) }] as const;
  });
  return { keys, keyBytes, tensors: new Map(tensors) };
}

function partOf({ keys, keyBytes, tensors }: WholeFile, part: GgufPart, isFirst: boolean): Buffer {
  const split = [
    ...splitKey('split.no', uint16, part.no),
    ...splitKey('split.count', uint16, part.count),
    ...splitKey('split.tensors.count', int32, part.tensorsCount),
  ];
  const header = [Buffer.from('GGUF'), word(3, 4), word(part.tensors.length, 8)];
  header.push(word((isFirst ? keys : 0) + split.length, 8), ...(isFirst ? [keyBytes] : []), ...split);
  const data: Buffer[] = [];
  let offset = 0;
  for (const name of part.tensors) {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`the whole file has no ${name}`);
    const padded = Math.ceil(tensor.data.length / alignment) * alignment;
    header.push(tensor.entry, word(offset, 8));
    data.push(Buffer.concat([tensor.data], padded));
    offset += padded;
  }
  const head = Buffer.concat(header);
  return Buffer.concat([Buffer.concat([head], Math.ceil(head.length / alignment) * alignment), ...data]);
}

function splitKey(key: string, type: number, value: number | null): Buffer[] {
  if (value === null) return [];
  const name = Buffer.from(key);
  return [Buffer.concat([word(name.length, 8), name, word(type, 4), word(value, type === uint16 ? 2 : 4)])];
}

function word(value: number, length: 2 | 4 | 8): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.subarray(0, length);
}
