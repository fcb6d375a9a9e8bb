// How many bytes a checkpoint's tensors take once the engine holds them, which differs from the files' size:
// parts that are not run are skipped, unquantized matrices are kept in one type, vectors and scales in float32.

import type { ModelShape } from './checkpoint.js';
import type { TensorEntry } from './safetensors.js';

/** `auto` is bfloat16. The type of the KV cache and of unquantized matrices in memory. */
export type EngineDtype = 'auto' | 'bfloat16' | 'float32';

export function dtypeBytes(dtype: EngineDtype): number {
  return dtype === 'float32' ? 4 : 2;
}

/** Vision towers and the multi-token-prediction head are in the file but not run. */
const skipped = /^(model\.visual\.|visual\.|model\.vision_tower\.|mtp\.)/;

/** Matrices of all experts in one tensor, as BF16 releases of qwen3_5_moe have them. */
const stackedExperts = /\.experts\.(gate_up|down)_proj$/;

/** Bytes of packed weights over all ranks. */
export function residentWeightBytes(
  tensors: Iterable<TensorEntry>,
  shape: ModelShape,
  dtype: EngineDtype,
): number {
  let total = 0;
  for (const tensor of tensors) {
    if (skipped.test(tensor.name)) continue;
    // A tied table is held once; some releases store the head as well.
    if (shape.tiedEmbeddings && tensor.name === 'lm_head.weight') continue;
    total += elements(tensor) * bytesPerElement(tensor, dtype);
  }
  return total;
}

function bytesPerElement(tensor: TensorEntry, dtype: EngineDtype): number {
  if (tensor.dtype === 'F8_E4M3') return 1;
  const stored = tensor.shape.length === 2 || stackedExperts.test(tensor.name);
  const matrix = stored && !tensor.name.endsWith('_scale_inv');
  return matrix ? dtypeBytes(dtype) : 4;
}

function elements(tensor: TensorEntry): number {
  return tensor.shape.reduce((product, side) => product * side, 1);
}
