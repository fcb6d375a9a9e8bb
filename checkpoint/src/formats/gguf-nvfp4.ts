// Matrices of NVFP4 in GGUF files, as the engine has those of other tools: the codes, the scales of their groups and the scale of the
// whole tensor, each as a tensor of its own. native/src/model/nvfp4_blocks.cpp reads the first two out of the blocks.

import type { TensorEntry } from './safetensors-header.js';

/** ones: the scale of the whole tensor, which a file may do without. */
export type BlockPart = 'codes' | 'scales' | 'ones';

export const nvfp4 = { name: 'NVFP4', columns: 64, bytes: 36 } as const;
const groupColumns = 16;
const floatBytes = 4;

/** How the file calls the scale of the tensor `NAME.weight`, and those of activations, which are not used. */
export const scaleOfTensor = /^(.+)\.scale$/;
export const scaleOfInputs = /\.input_scale$/;

type InPart<Tensor> = Tensor & { readonly blockPart: BlockPart };

/** @param isScaled whether the file has the scale of the whole tensor */
export function nvfp4Tensors<Tensor extends TensorEntry>(
  tensor: Tensor,
  isScaled: boolean,
): InPart<Tensor>[] {
  const { name, shape } = tensor;
  const columns = shape.at(-1) ?? 0;
  const outer = shape.slice(0, -1);
  const rows = outer.reduce((all, side) => all * side, 1);
  const narrowed = (width: number): Pick<TensorEntry, 'shape' | 'bytes'> => ({
    shape: [...outer, width],
    bytes: rows * width,
  });
  const parts: InPart<Tensor>[] = [
    { ...tensor, dtype: 'U8', ...narrowed(columns / 2), blockPart: 'codes' },
    {
      ...tensor,
      ...{ name: `${name}_scale`, dtype: 'F8_E4M3' },
      ...narrowed(columns / groupColumns),
      blockPart: 'scales',
    },
  ];
  if (isScaled) return parts;
  const sides = scaleSides(shape);
  const ones = { name: `${name}_scale_2`, dtype: 'F32', shape: sides, bytes: (sides[0] ?? 1) * floatBytes };
  return [...parts, { ...tensor, ...ones, restoration: null, blockPart: 'ones' }];
}

/** Of the scale of a tensor: one number, or one for each expert of a stack. */
export function scaleSides(shape: readonly number[]): readonly number[] {
  return [shape.length === 3 ? (shape[0] ?? 0) : 1];
}

/** Of what a tensor is made of, from its offset on. */
export function storedBytes({
  bytes,
  blockPart,
}: Pick<TensorEntry, 'bytes'> & { blockPart?: BlockPart }): number {
  return blockPart === 'codes' ? (bytes * nvfp4.bytes * 2) / nvfp4.columns : bytes;
}
