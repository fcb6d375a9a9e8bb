// Scales of FP8 matrices that are stored as exponents alone (ue8m0, F8_E8M0): the engine reads them as floats.
// native/src/model/restored_tensor.cpp widens their values.

import type { TensorEntry } from '../formats/safetensors-header.js';

/** Exponents of two that reading widens to F32. */
export type PowerForm = 'powersOfTwo';

const floatBytes = 4;

/** The same tensors, with F32 in place of F8_E8M0 where it scales FP8. Other formats have no scales of the kind. */
export function withFloatScales<Tensor extends TensorEntry>(
  tensors: readonly Tensor[],
): readonly (Tensor & { readonly fused?: PowerForm })[] {
  if (!tensors.some(({ dtype }) => dtype === 'F8_E8M0')) return tensors;
  const inFp8 = new Set(tensors.flatMap(({ name, dtype }) => (dtype === 'F8_E4M3' ? [name] : [])));
  return tensors.map((tensor) => {
    const [, matrix] = /^(.*)_scale(?:_inv)?$/.exec(tensor.name) ?? [];
    if (tensor.dtype !== 'F8_E8M0' || matrix === undefined || !inFp8.has(matrix)) return tensor;
    return { ...tensor, dtype: 'F32', bytes: tensor.bytes * floatBytes, fused: 'powersOfTwo' };
  });
}
