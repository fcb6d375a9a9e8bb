// Matrices of packed integers lie in several tensors each: they become one tensor in the blocks that the engine reads them into,
// once their types and shapes are found to fit. native/src/model/packed_tensor.cpp reads the parts.

import { FailureError } from '@llmservice/crds';
import { type ConfigObject, isObject } from '../config/config-fields.js';
import { type PackedGroup, type Packing, parsePacking } from '../config/packed-integers.js';
import { blockType } from '../formats/gguf-types.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { testOf } from './left-alone.js';
import { listed, refusal } from './tensor-refusal.js';

/**
 * How the integers of a matrix (N, K) lie. columns: words of neighbouring columns (K / per word, N); interleaved: words of
 * neighbouring rows (K, N / 8), in AWQ's order; rows: words of neighbouring columns (N, K / per word); bytes: signed (N, K).
 */
type Layout = 'columns' | 'interleaved' | 'rows' | 'bytes';

/** The parts of a matrix. */
export interface Packed<Part> {
  readonly layout: Layout;
  readonly bits: 4 | 8;
  readonly groupColumns: number;
  /** What is added to stored zero points. */
  readonly zeroOffset: 0 | 1;
  readonly codes: Part;
  readonly scales: Part;
  /** Null: half the range. */
  readonly zeros: Part | null;
  /** Of each column, its group. */
  readonly groups: Part | null;
  /** Else groups lie one after the other. */
  readonly reordered: boolean;
}

/**
 * @param config the whole config.json
 * @returns the same tensors with one `MODULE.weight` for each matrix of packed integers
 * @throws FailureError UnsupportedQuantization, CheckpointIncomplete, CheckpointCorrupt
 */
export function joinPacked<Tensor extends TensorEntry>(
  config: ConfigObject,
  tensors: readonly Tensor[],
): readonly (Tensor & { readonly packed?: Packed<Tensor> })[] {
  const declared = config['quantization_config'] ?? config['compression_config'];
  const packing = isObject(declared) ? parsePacking(declared) : null;
  if (packing === null) return tensors;
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const matrices = tensors.flatMap((codes) => {
    const module = moduleOf(packing, codes);
    return module === null ? [] : [new Joiner(packing, byName, module, codes).join()];
  });
  if (matrices.length === 0) {
    throw new FailureError(
      'CheckpointCorrupt',
      `config.json says that ${packing.tool} quantized the checkpoint, but no tensor is of packed integers`,
    );
  }
  const gone = new Set(matrices.flatMap(({ parts }) => parts));
  return [...tensors.filter(({ name }) => !gone.has(name)), ...matrices.map(({ whole }) => whole)];
}

function moduleOf({ tool }: Packing, { name, dtype }: TensorEntry): string | null {
  if (tool !== 'compressed-tensors') return /^(.*)\.qweight$/.exec(name)?.[1] ?? null;
  if (dtype === 'I32') return /^(.*)\.weight_packed$/.exec(name)?.[1] ?? null;
  return dtype === 'I8' ? (/^(.*)\.weight$/.exec(name)?.[1] ?? null) : null;
}

const suffixes = {
  gptq: { scales: '.scales', zeros: '.qzeros', groups: '.g_idx', others: [] },
  awq: { scales: '.scales', zeros: '.qzeros', groups: '.g_idx', others: [] },
  'compressed-tensors': {
    scales: '.weight_scale',
    zeros: '.weight_zero_point',
    groups: '.weight_g_idx',
    others: ['.weight_shape'],
  },
} as const;

/** Of the blocks in memory. */
const blockColumns = 32;

class Joiner<Tensor extends TensorEntry> {
  readonly #layout: Layout;
  readonly #group: PackedGroup;

  constructor(
    private readonly packing: Packing,
    private readonly byName: ReadonlyMap<string, Tensor>,
    private readonly module: string,
    private readonly codes: Tensor,
  ) {
    const group = groupFor(packing.groups, module);
    if (group === undefined)
      throw refusal('CheckpointCorrupt', codes, 'is quantized, but no group of config_groups targets it');
    this.#group = group;
    if (packing.tool === 'gptq') this.#layout = 'columns';
    else if (packing.tool === 'awq') this.#layout = 'interleaved';
    else this.#layout = codes.dtype === 'I8' ? 'bytes' : 'rows';
  }

  join(): { whole: Tensor & { readonly packed?: Packed<Tensor> }; parts: string[] } {
    const { codes, module, packing } = this;
    if (this.#isByRow()) return this.#byRow();
    const bits = this.#layout === 'bytes' ? 8 : this.#group.bits;
    const [rows, cols] = this.#sides(bits);
    const group = this.#group.groupColumns ?? cols;
    const packed: Packed<Tensor> = {
      layout: this.#layout,
      bits,
      groupColumns: group,
      zeroOffset: packing.zeroOffset,
      codes,
      scales: this.#scales(rows, Math.ceil(cols / group)),
      zeros: this.#zeros(rows, Math.ceil(cols / group), bits),
      groups: this.#groups(cols, group),
      reordered: this.#group.reordered,
    };
    const dtype = bits === 4 ? 'INT4' : 'INT8';
    const bytes = rows * (cols / blockColumns) * (blockType(dtype)?.bytes ?? 0);
    const { scales, zeros, groups, others } = suffixes[packing.tool];
    return {
      whole: {
        ...codes,
        name: `${module}.weight`,
        dtype,
        shape: [rows, cols],
        bytes,
        ...this.#order(),
        packed,
      },
      parts: [codes.name, ...[scales, zeros, groups, ...others].map((suffix) => module + suffix)],
    };
  }

  /** Bytes with one scale for each row are held as they are stored. */
  #isByRow(): boolean {
    const { groupColumns, hasZeros, reordered } = this.#group;
    return this.#layout === 'bytes' && groupColumns === null && !hasZeros && !reordered;
  }

  /** check-storage.ts checks the scales. */
  #byRow(): { whole: Tensor; parts: string[] } {
    this.#part(suffixes[this.packing.tool].scales);
    this.#zeros(0, 0, 8);
    return { whole: this.codes, parts: [this.codes.name] };
  }

  #sides(bits: 4 | 8): [rows: number, cols: number] {
    const { codes } = this;
    const [first = 0, second = 0] = codes.shape;
    if (codes.shape.length !== 2 || (this.#layout !== 'bytes' && codes.dtype !== 'I32')) {
      throw refusal(
        'UnsupportedQuantization',
        codes,
        `has type ${codes.dtype} and shape ${listed(codes.shape)}; packed integers are I32 of two dimensions`,
      );
    }
    const perWord = 32 / bits;
    const sides = {
      columns: [second, first * perWord],
      interleaved: [second * perWord, first],
      rows: [first, second * perWord],
      bytes: [first, second],
    } as const;
    const [rows, cols] = sides[this.#layout];
    if (cols % blockColumns !== 0 || (this.#layout === 'columns' && rows % perWord !== 0)) {
      throw refusal(
        'UnsupportedQuantization',
        codes,
        `packs a matrix of shape ${listed([rows, cols])}; columns must be a multiple of ${String(blockColumns)}, and rows whole words of zero points`,
      );
    }
    return [rows, cols];
  }

  #part(suffix: string): Tensor {
    const part = this.byName.get(this.module + suffix);
    if (part !== undefined) return part;
    throw refusal(
      'CheckpointIncomplete',
      this.codes,
      `is of packed integers, but there is no tensor ${this.module}${suffix}`,
    );
  }

  #scales(rows: number, groups: number): Tensor {
    const scales = this.#part(suffixes[this.packing.tool].scales);
    if (scales.dtype !== 'F16' && scales.dtype !== 'BF16') {
      throw refusal(
        'UnsupportedQuantization',
        scales,
        `has type ${scales.dtype}; scales of packed integers are F16 or BF16`,
      );
    }
    this.#expect(scales, this.packing.tool === 'compressed-tensors' ? [rows, groups] : [groups, rows]);
    return scales;
  }

  #zeros(rows: number, groups: number, bits: 4 | 8): Tensor | null {
    const { zeros: suffix } = suffixes[this.packing.tool];
    if (!this.#group.hasZeros) {
      const stray = this.byName.get(this.module + suffix);
      if (stray === undefined) return null;
      throw refusal(
        'CheckpointCorrupt',
        stray,
        'is there although config.json says that the weights are symmetric',
      );
    }
    const zeros = this.#part(suffix);
    const dtype = this.#layout === 'bytes' ? 'I8' : 'I32';
    if (zeros.dtype !== dtype) {
      throw refusal(
        'UnsupportedQuantization',
        zeros,
        `has type ${zeros.dtype}; zero points of this kind are ${dtype}`,
      );
    }
    const words = Math.ceil((rows * bits) / 32);
    const sides = {
      columns: [groups, words],
      interleaved: [groups, words],
      rows: [words, groups],
      bytes: [rows, groups],
    };
    this.#expect(zeros, sides[this.#layout]);
    return zeros;
  }

  #order(): Pick<TensorEntry, 'reordered'> {
    return this.#group.reordered ? { reordered: true } : {};
  }

  #groups(cols: number, group: number): Tensor | null {
    const suffix = suffixes[this.packing.tool].groups;
    if (this.#group.reordered) {
      this.#part(suffix);
      if (this.module.includes('.experts.') || cols % group !== 0) {
        throw refusal(
          'UnsupportedQuantization',
          this.codes,
          `has ${String(cols)} columns in the order of groups of ${String(group)}; groups must be whole, and experts have their columns in order`,
        );
      }
    }
    const groups = this.byName.get(this.module + suffix);
    if (groups === undefined || this.packing.tool === 'awq') return null;
    if (groups.dtype !== 'I32' && groups.dtype !== 'I64') {
      throw refusal('UnsupportedQuantization', groups, `has type ${groups.dtype}; groups of columns are I32`);
    }
    this.#expect(groups, [cols]);
    return groups;
  }

  #expect(part: Tensor, sides: readonly number[]): void {
    if (part.shape.join() === sides.join()) return;
    throw refusal(
      'UnsupportedQuantization',
      part,
      `has shape ${listed(part.shape)} where ${this.codes.name} of shape ${listed(this.codes.shape)} takes ${listed(sides)}`,
    );
  }
}

/** Named modules come before kinds of modules. */
function groupFor(groups: readonly PackedGroup[], module: string): PackedGroup | undefined {
  const named = groups.find(({ targets }) => targets?.some((target) => testOf(target)(module)) === true);
  return named ?? groups.find(({ targets }) => targets === null);
}
