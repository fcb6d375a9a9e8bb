// A checkpoint as the engine gets it: the model and where each tensor lies. The engine parses neither config.json nor a
// header, so that it cannot read them in another way than the memory plan did. native/src/model/checkpoint_source.cpp reads
// what is written here.

import { isQuantizedAtLoad, type Eagle3Head, type LoadQuantization } from '@llmservice/checkpoint';
import type { LocalCheckpoint, StoredTensor } from '@llmservice/checkpoint/local';

/** @param atLoad what unquantized matrices become; of a checkpoint that is quantized already, the rest is left alone */
export function describeCheckpoint(
  { dir, shape, tensors, eagle3 }: LocalCheckpoint & { readonly eagle3?: Eagle3Head['eagle3'] },
  atLoad: LoadQuantization,
): string {
  return JSON.stringify({
    dir,
    // What the plan alone needs is left out.
    shape: {
      ...shape,
      maxPositionEmbeddings: undefined,
      quantization: undefined,
      labels: undefined,
      generates: undefined,
    },
    quantization: shape.quantization === 'none' ? atLoad : 'none',
    ...(eagle3 === undefined ? {} : { eagle3 }),
    tensors: tensors.map(({ packed, ...tensor }) => ({
      ...tensor,
      reordered: undefined,
      ...(packed === undefined ? {} : { packed: describePacked(packed) }),
      quantizable: isQuantizedAtLoad(tensor.name.replace(/\.weight$/, '')),
    })),
  });
}

type Packed = NonNullable<StoredTensor['packed']>;

function describePacked({ codes, scales, zeros, groups, ...how }: Packed): object {
  const part = ({ name, file, dtype, shape, offset, bytes }: StoredTensor): object => ({
    ...{ name, file, dtype, shape, offset, bytes },
  });
  return {
    ...how,
    codes: part(codes),
    scales: part(scales),
    zeros: zeros === null ? null : part(zeros),
    groups: groups === null ? null : part(groups),
  };
}
