// How matrices are stored: in a type that the engine reads, with the scales that the type takes and no others.
// native/src/model/stored_weight.cpp finds them by the same rules.

import { blockType } from '../formats/gguf-types.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { plainTypes } from './plain-types.js';
import { listed, refusal } from './tensor-refusal.js';
import { towers } from './towers.js';

type ByName = ReadonlyMap<string, TensorEntry>;

/** The matrix of a module, or a stack of experts' matrices. */
const matrix = new RegExp(
  String.raw`^(?!${towers})(?:(.*\.weight)(?:_packed)?|(.*\.experts\.[a-z_]+_proj))$`,
);
const scaleSuffixes = ['_scale_inv', '_scale', '_scale_2', '_global_scale'];
const blockSide = 128;
/** Columns of NVFP4 that share a scale. */
const groupColumns = 16;

/** @throws FailureError UnsupportedQuantization, CheckpointIncomplete, CheckpointCorrupt */
export function checkStorage(tensors: ByName): void {
  for (const tensor of tensors.values()) {
    const [, single, stack] = matrix.exec(tensor.name) ?? [];
    const base = single ?? stack;
    // Norms and convolutions have other ranks.
    if (base === undefined || tensor.shape.length !== (stack === undefined ? 2 : 3)) continue;
    const scaleOf: ScaleOf = (suffix) => {
      const scale = tensors.get(base + suffix);
      return scale === undefined || stack === undefined ? scale : ofOneExpert(scale, tensor);
    };
    checkMatrix({ ...tensor, shape: tensor.shape.slice(-2) }, base, scaleOf);
  }
}

/** One slice of a stack's scales. */
function ofOneExpert(scale: TensorEntry, stack: TensorEntry): TensorEntry {
  const [count, ...shape] = scale.shape;
  if (count === stack.shape[0]) return { ...scale, shape };
  throw refusal(
    'UnsupportedQuantization',
    scale,
    `has shape ${listed(scale.shape)}, but ${stack.name} stacks ${String(stack.shape[0])}`,
  );
}

type ScaleOf = (suffix: string) => TensorEntry | undefined;

function checkMatrix(weight: TensorEntry, base: string, scaleOf: ScaleOf): void {
  if (weight.dtype === 'F8_E4M3') checkFp8(weight, base, scaleOf('_scale_inv') ?? scaleOf('_scale'));
  else if (weight.dtype === 'U8') checkNvfp4(weight, base, scaleOf);
  else if (weight.dtype === 'I8') checkInt8(weight, base, scaleOf('_scale'));
  else checkPlain(weight, base, scaleOf);
}

function checkPlain(weight: TensorEntry, base: string, scaleOf: ScaleOf): void {
  const { dtype } = weight;
  if (!plainTypes.includes(dtype) && blockType(dtype) === undefined) {
    throw refusal(
      'UnsupportedQuantization',
      weight,
      `has type ${dtype}; supported are F32, BF16, F16, F8_E4M3, I8 and U8 (NVFP4)`,
    );
  }
  const stray = scaleSuffixes.find((suffix) => scaleOf(suffix) !== undefined);
  if (stray === undefined) return;
  throw refusal(
    'CheckpointCorrupt',
    weight,
    `is ${dtype} but has a scale, ${base}${stray}, as if it were quantized`,
  );
}

function checkFp8(weight: TensorEntry, base: string, scale: TensorEntry | undefined): void {
  if (scale === undefined) {
    throw refusal(
      'CheckpointIncomplete',
      weight,
      `is FP8 but there is no tensor ${base}_scale_inv nor ${base}_scale`,
    );
  }
  checkFloat(scale, ' or F8_E8M0');
  const [rows = 0, cols = 0] = weight.shape;
  const byBlock = [Math.ceil(rows / blockSide), Math.ceil(cols / blockSide)];
  const allowed = [[], [1], [rows, 1], byBlock].map((sides) => sides.join());
  if (allowed.includes(scale.shape.join())) return;
  throw refusal(
    'UnsupportedQuantization',
    scale,
    `has shape ${listed(scale.shape)}; a matrix of shape ${listed(weight.shape)} takes one scale ([] or [1]), one per row ` +
      `(${listed([rows, 1])}) or one per 128x128 block (${listed(byBlock)})`,
  );
}

/** Signed bytes, with a scale for each row. */
function checkInt8(weight: TensorEntry, base: string, scale: TensorEntry | undefined): void {
  if (scale === undefined) {
    throw refusal(
      'UnsupportedQuantization',
      weight,
      `has type I8, which is read with a scale per row, but there is no tensor ${base}_scale`,
    );
  }
  checkFloat(scale);
  checkSides(scale, [weight.shape[0] ?? 0, 1], weight);
}

function checkNvfp4(weight: TensorEntry, base: string, scaleOf: ScaleOf): void {
  const globalSuffix = weight.name.endsWith('_packed') ? '_global_scale' : '_scale_2';
  const scale = scaleOf('_scale');
  const global = scaleOf(globalSuffix);
  if (scale === undefined || global === undefined) {
    const missing = `${base}${scale === undefined ? '_scale' : globalSuffix}`;
    throw refusal(
      'UnsupportedQuantization',
      weight,
      `has type U8, which is read as NVFP4 only, but there is no tensor ${missing}`,
    );
  }
  if (scale.dtype !== 'F8_E4M3') {
    throw refusal(
      'UnsupportedQuantization',
      scale,
      `has type ${scale.dtype}; the group scales of NVFP4 are F8_E4M3`,
    );
  }
  checkFloat(global);
  const [rows = 0, bytes = 0] = weight.shape;
  if ((2 * bytes) % groupColumns !== 0) {
    throw refusal(
      'CheckpointCorrupt',
      weight,
      `has ${String(2 * bytes)} columns, which NVFP4's groups of 16 do not divide`,
    );
  }
  checkSides(scale, [rows, (2 * bytes) / groupColumns], weight);
  if (global.shape.length > 0) checkSides(global, [1], weight);
}

function checkFloat(scale: TensorEntry, more = ''): void {
  if (plainTypes.includes(scale.dtype)) return;
  throw refusal(
    'UnsupportedQuantization',
    scale,
    `has type ${scale.dtype}; scales of this kind are F32, BF16${more === '' ? ' or' : ','} F16${more}`,
  );
}

function checkSides(scale: TensorEntry, sides: readonly number[], weight: TensorEntry): void {
  if (scale.shape.join() === sides.join()) return;
  throw refusal(
    'UnsupportedQuantization',
    scale,
    `has shape ${listed(scale.shape)} where ${weight.name} of shape ${listed(weight.shape)} takes ${listed(sides)}`,
  );
}
