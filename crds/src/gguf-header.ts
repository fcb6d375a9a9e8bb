// The header of a GGUF file: metadata, and where each tensor lies. All of it is untrusted: every count and length is
// held against the file's size, or a limit, before memory is taken. native/src/model/gguf_header.cpp refuses the same.
// Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md

import { FailureError } from './failures.js';
import { ggufTypeName, ggufTypes } from './gguf-types.js';

export type GgufScalar = number | boolean | string;
export type GgufValue = GgufScalar | readonly GgufScalar[];

export interface GgufTensor {
  readonly name: string;
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
  /** Arrays only where they were asked for. */
  readonly values: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

/** Vocabularies make headers of some ten MiB; more than this is not a header. */
export const maxGgufHeaderBytes = 256 * 2 ** 20;

const maxKeys = 65_536;
const maxTensors = 262_144;
const maxNameBytes = 1024;
const maxTextBytes = 4 * 2 ** 20;
const maxDims = 4;
const text = 8;
const array = 9;

/** Readers of numbers and flags by their type's number. */
const scalars: ReadonlyMap<
  number,
  readonly [bytes: number, read: (view: DataView, at: number) => GgufScalar]
> = new Map([
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
 * Parses a header from the file's first bytes; null when it goes on behind them.
 * @param options.arrays whether arrays are kept, as the tokenizer needs them
 * @throws FailureError CheckpointCorrupt, naming the key or tensor
 */
export function parseGgufHeader(
  file: string,
  bytes: Uint8Array,
  fileBytes: number,
  options: { readonly arrays: boolean },
): GgufHeader | null {
  try {
    return new HeaderParser(file, bytes, fileBytes, options.arrays).parse();
  } catch (error) {
    if (error === goesOn) return null;
    throw error;
  }
}

const goesOn = Symbol('the header goes on behind the bytes that are there');

class HeaderParser {
  private at = 0;
  private readonly view: DataView;
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(
    private readonly file: string,
    private readonly bytes: Uint8Array,
    private readonly fileBytes: number,
    private readonly arrays: boolean,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  parse(): GgufHeader {
    this.expectFormat();
    const tensors = this.count('the number of tensors', maxTensors);
    const keys = this.count('the number of keys', maxKeys);
    const values = new Map<string, GgufValue>();
    for (let i = 0; i < keys; i++) {
      const key = this.name('the name of a key');
      if (values.has(key)) throw this.corrupt(`key ${key} is there twice`);
      const value = this.value(`the value of key ${key}`);
      if (value !== null) values.set(key, value);
    }
    const entries = new Map<string, GgufTensor>();
    for (let i = 0; i < tensors; i++) {
      const tensor = this.tensor();
      if (entries.has(tensor.name)) throw this.corrupt(`tensor ${tensor.name} is there twice`);
      entries.set(tensor.name, tensor);
    }
    return { file: this.file, values, tensors: this.placed(values, [...entries.values()]) };
  }

  private corrupt(problem: string): FailureError {
    return new FailureError('CheckpointCorrupt', `${this.file}: ${problem}`, { file: this.file });
  }

  /** Where the next `count` bytes begin. */
  private take(count: number, what: string): number {
    const end = this.at + count;
    if (end > this.fileBytes) {
      throw this.corrupt(
        `the file ends at byte ${String(this.fileBytes)} within ${what}, which at byte ${String(this.at)} takes ` +
          `${String(count)} more: it is truncated or malformed`,
      );
    }
    if (end > maxGgufHeaderBytes) {
      throw this.corrupt(
        `its header has more than ${String(maxGgufHeaderBytes)} bytes, far more than such a file takes`,
      );
    }
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a way out of the depth, caught by parseGgufHeader
    if (end > this.bytes.byteLength) throw goesOn;
    const begin = this.at;
    this.at = end;
    return begin;
  }

  private u32(what: string): number {
    return this.view.getUint32(this.take(4, what), true);
  }

  private u64(what: string): number {
    return Number(this.view.getBigUint64(this.take(8, what), true));
  }

  private count(what: string, most: number): number {
    const count = this.u64(what);
    if (count > most) throw this.corrupt(`${what} is ${String(count)}; at most ${String(most)} are read`);
    return count;
  }

  private text(bytes: number, what: string): string {
    const begin = this.take(bytes, what);
    return this.decoder.decode(this.bytes.subarray(begin, begin + bytes));
  }

  private name(what: string): string {
    const bytes = this.u64(what);
    if (bytes === 0 || bytes > maxNameBytes) {
      throw this.corrupt(`${what} has ${String(bytes)} bytes; expected 1 to ${String(maxNameBytes)}`);
    }
    return this.text(bytes, what);
  }

  private expectFormat(): void {
    if (this.fileBytes < 24 || this.text(4, 'the file’s mark') !== 'GGUF') {
      throw this.corrupt('it does not begin with GGUF, as GGUF files do');
    }
    const version = this.u32('the version');
    if (version === 2 || version === 3) return;
    const swapped = version !== 0 && (version & 0xffff) === 0;
    throw this.corrupt(
      swapped
        ? 'it is big-endian; convert it on a little-endian machine'
        : `it has version ${String(version)} of the format; 2 and 3 are read`,
    );
  }

  /** Null for an array that nobody wants. */
  private value(what: string): GgufValue | null {
    const type = this.u32(what);
    if (type === text) return this.shortText(what);
    if (type === array) return this.array(what);
    return this.scalar(type, what);
  }

  private scalar(type: number, what: string): GgufScalar {
    const [bytes, read] = this.scalarOf(type, what);
    return read(this.view, this.take(bytes, what));
  }

  private scalarOf(
    type: number,
    what: string,
  ): readonly [number, (view: DataView, at: number) => GgufScalar] {
    const scalar = scalars.get(type);
    if (scalar === undefined) throw this.corrupt(`${what} has type ${String(type)}, which is not read`);
    return scalar;
  }

  private shortText(what: string): string {
    const bytes = this.u64(what);
    if (bytes > maxTextBytes)
      throw this.corrupt(`${what} has ${String(bytes)} bytes; at most ${String(maxTextBytes)} are read`);
    return this.text(bytes, what);
  }

  private array(what: string): readonly GgufScalar[] | null {
    const type = this.u32(what);
    const count = this.u64(what);
    if (type !== text) return this.scalarArray(type, count, what);
    const kept: string[] = [];
    // Each has its length of 8 bytes, so that the file bounds their number.
    if (count > this.fileBytes / 8) this.take(this.fileBytes, what);
    for (let i = 0; i < count; i++) {
      if (this.arrays) kept.push(this.shortText(what));
      else this.take(this.u64(what), what);
    }
    return this.arrays ? kept : null;
  }

  private scalarArray(type: number, count: number, what: string): readonly GgufScalar[] | null {
    const [bytes, read] = this.scalarOf(type, what);
    const begin = this.take(count * bytes, what);
    return this.arrays ? Array.from({ length: count }, (_, i) => read(this.view, begin + i * bytes)) : null;
  }

  private tensor(): GgufTensor {
    const name = this.name('the name of a tensor');
    const what = `the entry of tensor ${name}`;
    const dims = this.u32(what);
    if (dims === 0 || dims > maxDims) {
      throw this.corrupt(`tensor ${name} has ${String(dims)} dimensions; expected 1 to ${String(maxDims)}`);
    }
    // Innermost first in the file.
    const shape = Array.from({ length: dims }, () => this.u64(what)).reverse();
    const elements = shape.reduce((product, side) => product * side, 1);
    if (elements === 0 || elements * 4 > Number.MAX_SAFE_INTEGER) {
      throw this.corrupt(
        `tensor ${name} has the sides ${shape.join(', ')}, which are 0 or larger than any memory`,
      );
    }
    const type = this.u32(what);
    const offset = this.u64(what);
    return {
      name,
      dtype: ggufTypeName(type),
      shape,
      offset,
      bytes: this.storedBytes(name, type, shape, elements),
    };
  }

  private storedBytes(name: string, type: number, shape: readonly number[], elements: number): number | null {
    const known = ggufTypes.get(type);
    if (known === undefined) return null;
    const columns = shape.at(-1) ?? 1;
    if (columns % known.columns !== 0) {
      throw this.corrupt(
        `tensor ${name} has rows of ${String(columns)} columns, which blocks of ${String(known.columns)} ` +
          `(${known.name}) do not divide`,
      );
    }
    return (elements / known.columns) * known.bytes;
  }

  /** Data begins at the next multiple of the alignment; offsets count from there. */
  private placed(values: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensor[]): GgufTensor[] {
    const alignment = values.get('general.alignment') ?? 32;
    if (
      typeof alignment !== 'number' ||
      alignment < 8 ||
      alignment > 2 ** 20 ||
      !Number.isInteger(Math.log2(alignment))
    ) {
      throw this.corrupt(
        `key general.alignment is ${String(alignment)}; expected a power of two from 8 to 1048576`,
      );
    }
    const data = Math.ceil(this.at / alignment) * alignment;
    return tensors.map((tensor) => {
      if (tensor.offset % alignment !== 0) {
        throw this.corrupt(
          `tensor ${tensor.name} lies at offset ${String(tensor.offset)}, which is not a multiple of the alignment of ` +
            String(alignment),
        );
      }
      const end = data + tensor.offset + (tensor.bytes ?? 0);
      if (end > this.fileBytes) {
        throw this.corrupt(
          `the file ends at byte ${String(this.fileBytes)} but tensor ${tensor.name} reaches byte ${String(end)}: ` +
            'the file is truncated',
        );
      }
      return { ...tensor, offset: data + tensor.offset };
    });
  }
}
