// Matrices in FP8 and MXFP4 whose codes or scales lie otherwise than the engine reads them, by headers alone: scales that are
// exponents (ue8m0, F8_E8M0), one-sided scales of rows (Quark), codes in e4m3fnuz, and MXFP4 in two tensors, as Quark and
// compressed-tensors have it. native/src/model/restored_tensor.cpp and fused_experts.cpp read their values.

import type { TensorEntry } from '../formats/safetensors-header.js';
import { listed, refusal } from './tensor-refusal.js';

/** powersOfTwo: exponents become F32. fnuz: codes become e4m3. blocks: codes and exponents become blocks of MXFP4. */
export type ScaledForm = 'powersOfTwo' | 'fnuz' | 'blocks';

type InForm<Tensor> = Tensor & { readonly fused?: ScaledForm; readonly scaledBy?: Tensor };

const floatBytes = 4;
const fp8 = new Set(['F8_E4M3', 'F8_E4M3FNUZ']);
const exponents = new Set(['U8', 'F8_E8M0']);
/** A matrix of its own or a stack of experts', and the scales of one. */
const matrix = /^(?:.*\.weight|.*\.experts\.[a-z_]+_proj)$/;
const scales = /^(.*)_scale(?:_inv)?$/;
const codes = /^(.*\.weight)(?:_packed)?$/;
/** Columns of a block of MXFP4, and its bytes in memory. */
const block = { columns: 32, bytes: 17 } as const;

/**
 * The same tensors as the engine has them; `tensors` themselves where none differ.
 * @throws FailureError CheckpointCorrupt, UnsupportedQuantization
 */
export function inScaledForm<Tensor extends TensorEntry>(
  tensors: readonly Tensor[],
): readonly InForm<Tensor>[] {
  if (!tensors.some(({ dtype }) => fp8.has(dtype) || dtype === 'U8')) return tensors;
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const consumed = new Set<string>();
  const blocks = new Map<string, InForm<Tensor>>();
  for (const tensor of tensors) {
    const scale = exponentsOf(tensor, byName);
    if (scale === null) continue;
    consumed.add(scale.name);
    blocks.set(tensor.name, inBlocks(tensor, scale));
  }
  return tensors
    .filter(({ name }) => !consumed.has(name))
    .map((tensor) => blocks.get(tensor.name) ?? inFloats(tensor, byName));
}

function inFloats<Tensor extends TensorEntry>(
  tensor: Tensor,
  byName: ReadonlyMap<string, Tensor>,
): InForm<Tensor> {
  if (tensor.dtype === 'F8_E4M3FNUZ' && matrix.test(tensor.name)) {
    return { ...tensor, dtype: 'F8_E4M3', fused: 'fnuz' };
  }
  const scaled = byName.get(scales.exec(tensor.name)?.[1] ?? '');
  if (scaled === undefined || !fp8.has(scaled.dtype)) return tensor;
  const [rows = 0] = scaled.shape;
  const isOneSided = scaled.shape.length === 2 && rows > 1 && tensor.shape.join() === String(rows);
  const shape = isOneSided ? [rows, 1] : tensor.shape;
  return tensor.dtype === 'F8_E8M0'
    ? { ...tensor, shape, dtype: 'F32', bytes: tensor.bytes * floatBytes, fused: 'powersOfTwo' }
    : { ...tensor, shape };
}

/** The scales of a matrix in MXFP4: bytes, where those of NVFP4 are e4m3. Null for what is none. */
function exponentsOf<Tensor extends TensorEntry>(
  { name, dtype, shape }: Tensor,
  byName: ReadonlyMap<string, Tensor>,
): Tensor | null {
  const [, weight] = codes.exec(name) ?? [];
  if (weight === undefined || dtype !== 'U8' || shape.length !== 2) return null;
  const scale = byName.get(`${weight}_scale`);
  return scale !== undefined && exponents.has(scale.dtype) && !isNvfp4(weight, byName) ? scale : null;
}

/** Only NVFP4 has a scale of the whole tensor. */
function isNvfp4(weight: string, byName: ReadonlyMap<string, unknown>): boolean {
  return byName.has(`${weight}_global_scale`) || byName.has(`${weight}_scale_2`);
}

function inBlocks<Tensor extends TensorEntry>(tensor: Tensor, scale: Tensor): InForm<Tensor> {
  const [rows = 0, bytes = 0] = tensor.shape;
  const columns = 2 * bytes;
  if (columns % block.columns !== 0) {
    throw refusal(
      'CheckpointCorrupt',
      tensor,
      `has ${String(columns)} columns, which MXFP4's blocks of ${String(block.columns)} do not divide`,
    );
  }
  const sides = [rows, columns / block.columns];
  if (scale.shape.join() !== sides.join()) {
    throw refusal(
      'UnsupportedQuantization',
      scale,
      `has shape ${listed(scale.shape)} where ${tensor.name} of shape ${listed(tensor.shape)} takes ${listed(sides)} in MXFP4`,
    );
  }
  return {
    ...tensor,
    ...{ name: tensor.name.replace(/_packed$/, ''), dtype: 'MXFP4', shape: [rows, columns] },
    ...{ bytes: (rows * columns * block.bytes) / block.columns, fused: 'blocks', scaledBy: scale },
  };
}
