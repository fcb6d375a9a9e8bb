// The headers of a split GGUF checkpoint's parts, joined into one: metadata of the first, tensors of all. The keys of every
// part are held against its name and against the first part, since parts of two sets may lie under one name.
// Keys: llama.cpp, gguf-split; gguf-py, Keys.Split. The first part has all other metadata, and maybe no tensor.

import { FailureError } from '@llmservice/crds';
import { maxGgufTensors, type GgufHeader, type GgufTensor } from './gguf-header.js';
import { parseGgufPartName, type GgufPartName } from './gguf-part-names.js';

const countKey = 'split.count';
/** From 0. */
const numberKey = 'split.no';
/** Of all parts together. */
const tensorsKey = 'split.tensors.count';

const remedy = 'upload the parts of one set, under the names that they were written with';

/** Takes the headers of all files of a checkpoint in their order. */
export class GgufParts {
  private first: GgufHeader | null = null;
  /** Null: a whole file, which need not say it. */
  private expected: number | null = null;
  private readonly tensors = new Map<string, GgufTensor>();

  /** @throws FailureError CheckpointCorrupt, CheckpointIncomplete */
  add(header: GgufHeader): void {
    const part = parseGgufPartName(header.file);
    if (part === null) refuseUnnamed(header);
    else this.checkKeys(header, part);
    this.first ??= header;
    for (const tensor of header.tensors) {
      const other = this.tensors.get(tensor.name);
      if (other !== undefined)
        throw corrupt(header, `tensor ${tensor.name} is in this part, and in ${other.file} too`);
      this.tensors.set(tensor.name, tensor);
    }
    if (this.expected !== null && this.tensors.size > this.expected)
      throw corrupt(header, `with this part its set has more than the ${this.countedBy()}`);
  }

  /** Once all are there. @throws FailureError CheckpointCorrupt */
  joined(): GgufHeader {
    if (this.first === null) throw new Error('a checkpoint has at least one file');
    if (this.expected !== null && this.tensors.size < this.expected)
      throw corrupt(this.first, `its set has ${String(this.tensors.size)} of the ${this.countedBy()}`);
    return { ...this.first, tensors: [...this.tensors.values()] };
  }

  private checkKeys(header: GgufHeader, { number, count }: GgufPartName): void {
    const named = `by its name it is part ${String(number)} of ${String(count)}`;
    if (header.values.get(countKey) !== count)
      throw corrupt(header, `${found(header, countKey)}, but ${named}`);
    if (header.values.get(numberKey) !== number - 1)
      throw corrupt(header, `${found(header, numberKey)}, expected ${String(number - 1)}: ${named}`);
    const tensors = header.values.get(tensorsKey);
    if (typeof tensors !== 'number' || !(tensors >= 1 && tensors <= maxGgufTensors))
      throw corrupt(header, `${found(header, tensorsKey)}, expected 1 to ${String(maxGgufTensors)}`);
    this.expected ??= tensors;
    if (tensors === this.expected) return;
    const first = `${String(this.expected)} in ${this.first?.file ?? ''}`;
    throw corrupt(header, `${found(header, tensorsKey)}, but ${first}: they are parts of two sets`);
  }

  private countedBy(): string {
    return `${String(this.expected)} tensors of key ${tensorsKey}`;
  }
}

/** What says that it is a part has to have a part's name: the others are found by it. */
function refuseUnnamed({ file, values }: GgufHeader): void {
  const parts = values.get(countKey);
  if (typeof parts !== 'number' || parts <= 1) return;
  throw new FailureError(
    'CheckpointIncomplete',
    `${file} is one of ${String(parts)} parts (key ${countKey}), but its name is not that of a part: name the parts ` +
      `NAME-00001-of-${String(parts).padStart(5, '0')}.gguf and so on, or merge them into one file`,
    { file },
  );
}

function found({ values }: GgufHeader, key: string): string {
  const value = values.get(key);
  // Lists are not kept of every header, so that one is as good as none.
  if (value === undefined || typeof value === 'object') return `key ${key} is missing`;
  return `key ${key} is ${JSON.stringify(value).slice(0, 80)}`;
}

function corrupt({ file }: GgufHeader, problem: string): FailureError {
  return new FailureError('CheckpointCorrupt', `${file}: ${problem}; ${remedy}`, { file });
}
