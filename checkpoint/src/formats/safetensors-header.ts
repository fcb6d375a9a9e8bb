// The header that opens a safetensors file, read as its bytes come:
// {"__metadata__": {text: text}, tensor: {"dtype": text, "shape": [counts], "data_offsets": [count, count]}, …}
// Anything else is refused at its byte. Format: github.com/huggingface/safetensors#format

import { FailureError } from '@llmservice/crds';
import type { JsonBytes } from '../json/json-bytes.js';
import { SteppedReader, type Step } from '../json/stepped-reader.js';

/** A file opens with the header's length as little-endian u64. */
export const headerLengthBytes = 8;

/** Mixtures of experts with 384 experts in 61 layers have 200,000 in all their files. */
export const maxTensors = 500_000;
export const maxNameBytes = 1024;
const maxDims = 16;
const maxDtypeBytes = 16;
/** Of one text of the metadata: notes of how an adapter was trained are long. */
const maxMetadataBytes = 4 * 2 ** 20;

const sizeOfDtype: ReadonlyMap<string, number> = new Map([
  ...['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2', 'F8_E8M0', 'F8_E4M3FNUZ', 'F8_E5M2FNUZ'].map(
    (name) => [name, 1] as const,
  ),
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
  /** Of packed integers: columns are read in another order than the model's. */
  readonly reordered?: boolean;
}

/** A tensor, and where its data begins. */
export interface PlacedTensor extends TensorEntry {
  /** From the start of the file. */
  readonly offset: number;
}

interface Described extends TensorEntry {
  /** From the end of the header. */
  readonly begin: number;
}

export class SafetensorsHeaderReader {
  readonly #file: string;
  readonly #reader: SteppedReader;
  readonly #names = new Set<string>();
  readonly #tensors: Described[] = [];
  #headerBytes = 0;

  constructor(file: string) {
    this.#file = file;
    this.#reader = new SteppedReader(file, (json) => this.#begin(json), maxMetadataBytes + maxNameBytes);
  }

  /** Takes the header's next bytes. @throws FailureError CheckpointCorrupt */
  write(bytes: Uint8Array): void {
    this.#headerBytes += bytes.byteLength;
    this.#reader.write(bytes);
  }

  /**
   * The tensors, in the order of their data. Their offsets must cover it without gap or overlap, and end where the file
   * ends.
   * @throws FailureError CheckpointCorrupt; CheckpointIncomplete when the file is shorter than its header says
   */
  end(fileBytes: number): PlacedTensor[] {
    this.#reader.end();
    this.#names.clear();
    const tensors = this.#tensors.sort((a, b) => a.begin - b.begin);
    let end = 0;
    for (const { name, begin, bytes } of tensors) {
      if (begin !== end) throw this.#corrupt(`tensor ${name} begins at ${String(begin)}, not ${String(end)}`);
      end += bytes;
    }
    this.#checkLength(fileBytes, headerLengthBytes + this.#headerBytes + end);
    const data = headerLengthBytes + this.#headerBytes;
    return tensors.map(({ begin, ...tensor }) => ({ ...tensor, offset: data + begin }));
  }

  #checkLength(fileBytes: number, expected: number): void {
    const file = this.#file;
    if (fileBytes < expected) {
      throw new FailureError(
        'CheckpointIncomplete',
        `${file} is cut short: ${String(fileBytes)} bytes of the ${String(expected)} that its header describes`,
        { file, bytes: fileBytes, expected },
      );
    }
    if (fileBytes > expected) {
      throw this.#corrupt(`${String(fileBytes)} bytes, but its header describes ${String(expected)}`);
    }
  }

  #begin(json: JsonBytes): Step {
    json.expect('{', 'the header');
    return (next) => (next.takes('}') ? null : this.#entry(next));
  }

  #entry(json: JsonBytes): Step | null {
    const name = json.string(maxNameBytes, 'the name of a tensor');
    json.expect(':', 'the entry of a tensor');
    if (name === '__metadata__') {
      json.expect('{', '__metadata__');
      return json.takes('}') ? (next) => this.#afterEntry(next) : (next) => this.#metadata(next);
    }
    const tensor = readTensor(json, name);
    // Once the whole entry is there: what is begun again must leave no trace.
    const follows = this.#follows(json);
    if (this.#names.has(name)) throw json.corrupt(`tensor ${name} is there twice`);
    if (this.#names.size === maxTensors) {
      throw json.corrupt(`there are more than ${String(maxTensors)} tensors`);
    }
    this.#names.add(name);
    this.#tensors.push(tensor);
    return follows;
  }

  #metadata(json: JsonBytes): Step | null {
    json.skipString(maxNameBytes, 'the name of a text of __metadata__');
    json.expect(':', 'a text of __metadata__');
    json.skipString(maxMetadataBytes, 'a text of __metadata__');
    if (json.takes(',')) return (next) => this.#metadata(next);
    json.expect('}', '__metadata__');
    return (next) => this.#afterEntry(next);
  }

  #afterEntry(json: JsonBytes): Step | null {
    return this.#follows(json);
  }

  #follows(json: JsonBytes): Step | null {
    if (json.takes(',')) return (next) => this.#entry(next);
    json.expect('}', 'the header');
    return null;
  }

  #corrupt(problem: string): FailureError {
    return new FailureError('CheckpointCorrupt', `${this.#file}: ${problem}`, { file: this.#file });
  }
}

function readTensor(json: JsonBytes, name: string): Described {
  json.subject = name;
  const what = 'the entry of a tensor';
  let dtype: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  json.expect('{', what);
  do {
    const field = json.string(maxNameBytes, 'a field of a tensor');
    json.expect(':', what);
    if (field === 'dtype' && dtype === undefined) dtype = json.string(maxDtypeBytes, 'a dtype');
    else if (field === 'shape' && shape === undefined) shape = readCounts(json, maxDims, 'a shape');
    else if (field === 'data_offsets' && offsets === undefined) offsets = readCounts(json, 2, 'data_offsets');
    else throw json.corrupt(`the field ${field} is there twice or is none of the format`);
  } while (json.takes(','));
  json.expect('}', what);

  const size = sizeOfDtype.get(dtype ?? '');
  if (dtype === undefined || size === undefined) {
    throw json.corrupt(`ends an entry with the unknown dtype ${JSON.stringify(dtype)}`);
  }
  if (shape === undefined) throw json.corrupt('ends an entry without shape');
  const [begin, end] = offsets ?? [];
  if (begin === undefined || end === undefined) throw json.corrupt('ends an entry without data_offsets');
  const bytes = shape.reduce((product, side) => product * side, size);
  if (end - begin !== bytes) {
    throw json.corrupt(
      `ends an entry of ${String(end - begin)} bytes, but its shape and dtype need ${String(bytes)}`,
    );
  }
  json.subject = null;
  return { name, dtype, shape, bytes, begin };
}

function readCounts(json: JsonBytes, most: number, what: string): number[] {
  const counts: number[] = [];
  json.expect('[', what);
  if (json.takes(']')) return counts;
  do {
    if (counts.length === most) throw json.corrupt(`${what} has more than ${String(most)} numbers`);
    counts.push(json.count(what));
  } while (json.takes(','));
  json.expect(']', what);
  return counts;
}
