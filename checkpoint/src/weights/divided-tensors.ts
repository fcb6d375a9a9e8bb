// Matrices that releases store one below the other in one tensor, by headers alone: the engine has each under a name of its own.

import { architectureNamed } from '../config/architectures.js';
import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { plainTypes } from './plain-types.js';
import { listed, refusal } from './tensor-refusal.js';

/** @throws FailureError CheckpointCorrupt, UnsupportedQuantization */
export function divided<Tensor extends TensorEntry>(
  { architecture }: Pick<ModelShape, 'architecture'>,
  tensors: readonly Tensor[],
): readonly Tensor[] {
  const stacked = architectureNamed(architecture)?.stacked ?? [];
  if (stacked.length === 0) return tensors;
  return tensors.flatMap((tensor) => {
    const found = stacked.find(([stored]) => tensor.name.includes(stored));
    return found === undefined ? [tensor] : partsOf(tensor, ...found);
  });
}

/** Of how many matrices the stored tensor is that has the engine's tensor `name`. */
export function matricesStoredWith({ architecture }: Pick<ModelShape, 'architecture'>, name: string): number {
  const stacked = architectureNamed(architecture)?.stacked ?? [];
  return stacked.find(([, names]) => names.some((own) => name.includes(own)))?.[1].length ?? 1;
}

function partsOf<Tensor extends TensorEntry>(
  tensor: Tensor,
  stored: string,
  names: readonly string[],
): readonly Tensor[] {
  const { name, dtype, shape } = tensor;
  const parts = names.length;
  const [rows = 0, ...sides] = shape;
  if (!plainTypes.includes(dtype))
    throw refusal(
      'UnsupportedQuantization',
      tensor,
      `has type ${dtype}; matrices that are stored as one are read in ${plainTypes.join(', ')}`,
    );
  if (rows % parts !== 0)
    throw refusal(
      'CheckpointCorrupt',
      tensor,
      `has shape ${listed(shape)}; its rows are those of ${String(parts)} matrices of one size`,
    );
  const bytes = tensor.bytes / parts;
  return names.map((own, i) => ({
    ...tensor,
    ...{ name: name.replace(stored, own), shape: [rows / parts, ...sides], bytes },
    ...('offset' in tensor ? { offset: Number(tensor.offset) + i * bytes } : {}),
  }));
}
