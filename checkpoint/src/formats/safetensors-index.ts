// The index of a sharded checkpoint, read as its bytes come: {"metadata": {…}, "weight_map": {tensor: file}}.

import { FailureError } from '@llmservice/crds';
import { isObject } from '../config/config-fields.js';
import type { JsonBytes } from '../json/json-bytes.js';
import { maxNameBytes, maxTensors } from './safetensors-header.js';
import { SteppedReader, type Step } from '../json/stepped-reader.js';

export const safetensorsIndexFile = 'model.safetensors.index.json';
export const safetensorsSingleFile = 'model.safetensors';

/** The largest published checkpoints have some hundred. */
const maxFiles = 10_000;
const maxFileNameBytes = 255;
/** Of what is beside weight_map. */
const maxOtherBytes = 2 ** 20;
const maxOtherLevels = 8;

export interface SafetensorsIndex {
  /** Distinct shard files, sorted. */
  readonly files: readonly string[];
  /** `metadata.total_size`; null where the index does not say. */
  readonly totalSizeBytes: number | null;
  /** Tensor name → file. */
  readonly weightMap: ReadonlyMap<string, string>;
}

export class SafetensorsIndexReader {
  readonly #reader: SteppedReader;
  readonly #weightMap = new Map<string, string>();
  /** Each name once, however many tensors name it. */
  readonly #files = new Map<string, string>();
  #totalSizeBytes: number | null = null;

  constructor() {
    const begin: Step = (json) => {
      json.expect('{', 'the index');
      return (next) => (next.takes('}') ? null : this.#field(next));
    };
    this.#reader = new SteppedReader(safetensorsIndexFile, begin, 2 * maxOtherBytes);
  }

  /** Takes the index' next bytes. @throws FailureError CheckpointCorrupt */
  write(bytes: Uint8Array): void {
    this.#reader.write(bytes);
  }

  /** @throws FailureError CheckpointCorrupt */
  end(): SafetensorsIndex {
    this.#reader.end();
    if (this.#weightMap.size === 0) {
      throw new FailureError('CheckpointCorrupt', `${safetensorsIndexFile}: weight_map is missing or empty`, {
        file: safetensorsIndexFile,
      });
    }
    return {
      files: [...this.#files.keys()].sort(),
      totalSizeBytes: this.#totalSizeBytes,
      weightMap: this.#weightMap,
    };
  }

  #field(json: JsonBytes): Step | null {
    const field = json.string(maxNameBytes, 'a field');
    json.expect(':', field);
    if (field === 'weight_map') {
      json.expect('{', field);
      return json.takes('}') ? (next) => this.#follows(next) : (next) => this.#tensor(next);
    }
    const value = json.value(maxOtherBytes, maxOtherLevels, field);
    const follows = this.#follows(json);
    if (field === 'metadata') this.#totalSizeBytes = totalSize(value);
    return follows;
  }

  #tensor(json: JsonBytes): Step | null {
    const tensor = json.string(maxNameBytes, 'the name of a tensor');
    json.expect(':', 'the file of a tensor');
    const file = json.string(maxFileNameBytes, 'the file of a tensor');
    const more = json.takes(',');
    if (!more) json.expect('}', 'weight_map');
    // A path out of the checkpoint's folder would make the puller write elsewhere.
    if (!/^[\w.-]+\.safetensors$/.test(file)) {
      throw json.corrupt(`weight_map of ${tensor} is not the name of a .safetensors file`);
    }
    this.#put(json, tensor, file);
    return more ? (next) => this.#tensor(next) : (next) => this.#follows(next);
  }

  #put(json: JsonBytes, tensor: string, file: string): void {
    if (this.#weightMap.size === maxTensors) {
      throw json.corrupt(`weight_map has more than ${String(maxTensors)} tensors`);
    }
    const known = this.#files.get(file);
    if (known === undefined && this.#files.size === maxFiles) {
      throw json.corrupt(`weight_map names more than ${String(maxFiles)} files`);
    }
    if (known === undefined) this.#files.set(file, file);
    this.#weightMap.set(tensor, known ?? file);
  }

  #follows(json: JsonBytes): Step | null {
    if (json.takes(',')) return (next) => this.#field(next);
    json.expect('}', 'the index');
    return null;
  }
}

/** A tensor in a file. */
export interface Placed {
  readonly file: string;
  readonly name: string;
}

/** @throws FailureError CheckpointIncomplete with the tensors that are not in the files that the index names */
export function checkIndexed({ weightMap }: SafetensorsIndex, tensors: Iterable<Placed>): void {
  const places = new Set(Array.from(tensors, ({ file, name }) => `${file}/${name}`));
  const absent = [...weightMap].filter(([tensor, file]) => !places.has(`${file}/${tensor}`));
  if (absent.length === 0) return;
  const named = listed(absent.map(([tensor, file]) => `${tensor} (${file})`));
  throw new FailureError(
    'CheckpointIncomplete',
    `tensors that the index lists but their files lack: ${named}`,
  );
}

/** The refusal of a checkpoint without these. */
export function missingFiles(names: readonly string[]): FailureError {
  return new FailureError('CheckpointIncomplete', `missing weight files: ${listed([...names].sort())}`, {
    missing: names.length,
  });
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${String(names.length - 5)} more` : shown;
}

function totalSize(metadata: unknown): number | null {
  const total = isObject(metadata) ? metadata['total_size'] : undefined;
  return typeof total === 'number' && Number.isInteger(total) && total > 0 ? total : null;
}
