// Experts as gpt_oss releases store them, by headers alone, as those of other models are: matrices (experts, rows, columns), gate
// over up. native/src/model/fused_experts.cpp reads their values.
//
// Unquantized they are (experts, columns, rows). In MXFP4: codes gate_up_proj_blocks (experts, rows, columns / 32, 16), two to a
// byte, and powers of two gate_up_proj_scales (experts, rows, columns / 32). Rows of gate and up alternate, in biases too.

import { architectureNamed } from '../config/architectures.js';
import type { ModelShape } from '../config/model-shape.js';
import type { TensorEntry } from '../formats/safetensors-header.js';
import { divided } from './divided-tensors.js';
import { inEngineNames } from './engine-names.js';
import { plainTypes } from './plain-types.js';
import { inScaledForm, type ScaledForm } from './scaled-forms.js';
import { listed, refusal } from './tensor-refusal.js';

/** `pairedExperts`: rows of gate and up alternate. */
export type FusedForm = 'experts' | 'pairedExperts';

/** A tensor as the engine has it. */
export type EngineTensor<Tensor> = Tensor & {
  /** How reading makes it of what is stored; absent: it is stored so. */
  readonly fused?: FusedForm | ScaledForm;
  /** What has the scales of its codes. */
  readonly scaledBy?: Tensor;
};

const expertPart = /^(.*\.mlp\.experts\.(gate_up|down)_proj)(_blocks|_scales|\.bias)?$/;
/** Columns of a block, and bytes of its codes. */
const block = { columns: 32, bytes: 16 } as const;

/**
 * The tensors of a checkpoint in safetensors under the names, and with the sides, that the engine has for them.
 * @throws FailureError CheckpointIncomplete, CheckpointCorrupt, UnsupportedQuantization
 */
export function inEngineForm<Tensor extends TensorEntry>(
  shape: Pick<ModelShape, 'architecture'>,
  tensors: readonly Tensor[],
): readonly EngineTensor<Tensor>[] {
  const named = inScaledForm(inEngineNames(shape, divided(shape, tensors)));
  if (architectureNamed(shape.architecture)?.gptOss !== true) return named;
  const byName = new Map(named.map((tensor) => [tensor.name, tensor]));
  return named.flatMap((tensor) => {
    const [, module, projection, part] = expertPart.exec(tensor.name) ?? [];
    if (module === undefined) return [tensor];
    const fused = projection === 'gate_up' ? 'pairedExperts' : 'experts';
    switch (part) {
      case '_scales':
        if (byName.has(`${module}_blocks`)) return [];
        throw refusal('CheckpointIncomplete', tensor, `has no codes: there is no tensor ${module}_blocks`);
      case '_blocks':
        return [{ ...inBlocks(tensor, module, byName), fused }];
      case '.bias':
        return [fused === 'experts' ? tensor : { ...tensor, fused }];
      default:
        return [{ ...turned(tensor), fused }];
    }
  });
}

/** Of a tensor in the engine's form, sides as the file has them, for messages. */
export function storedSides(
  { dtype, fused }: EngineTensor<TensorEntry>,
  sides: readonly number[],
): readonly number[] {
  const [count = 0, rows = 0, columns = 0] = sides;
  return (fused === 'experts' || fused === 'pairedExperts') && dtype !== 'MXFP4' && sides.length === 3
    ? [count, columns, rows]
    : sides;
}

function inBlocks<Tensor extends TensorEntry>(
  codes: Tensor,
  module: string,
  byName: ReadonlyMap<string, Tensor>,
): EngineTensor<Tensor> {
  const scales = byName.get(`${module}_scales`);
  if (scales === undefined) {
    throw refusal('CheckpointIncomplete', codes, `is MXFP4 but there is no tensor ${module}_scales`);
  }
  if (byName.has(module)) {
    throw refusal('CheckpointCorrupt', codes, `is MXFP4 of ${module}, which is there unquantized too`);
  }
  for (const tensor of [codes, scales]) {
    if (tensor.dtype === 'U8') continue;
    throw refusal(
      'UnsupportedQuantization',
      tensor,
      `has type ${tensor.dtype}; codes and scales of MXFP4 are U8`,
    );
  }
  const [count = 0, rows = 0, blocks = 0, bytes] = codes.shape;
  if (codes.shape.length !== 4 || bytes !== block.bytes) {
    throw refusal(
      'CheckpointCorrupt',
      codes,
      `has shape ${listed(codes.shape)}; blocks of MXFP4 are [experts, rows, columns / ${String(block.columns)}, ${String(block.bytes)}]`,
    );
  }
  if (scales.shape.join() !== [count, rows, blocks].join()) {
    throw refusal(
      'CheckpointCorrupt',
      scales,
      `has shape ${listed(scales.shape)} where ${codes.name} of shape ${listed(codes.shape)} takes ${listed([count, rows, blocks])}`,
    );
  }
  return {
    ...codes,
    ...{ name: module, dtype: 'MXFP4', shape: [count, rows, blocks * block.columns] },
    ...{ bytes: codes.bytes + scales.bytes, scaledBy: scales },
  };
}

function turned<Tensor extends TensorEntry>(tensor: Tensor): Tensor {
  const { dtype, shape } = tensor;
  if (!plainTypes.includes(dtype)) {
    throw refusal(
      'UnsupportedQuantization',
      tensor,
      `has type ${dtype}; experts of this architecture are read in ${plainTypes.join(', ')} and MXFP4 (_blocks and _scales)`,
    );
  }
  const [count = 0, columns = 0, rows = 0] = shape;
  if (shape.length === 3) return { ...tensor, shape: [count, rows, columns] };
  throw refusal(
    'CheckpointCorrupt',
    tensor,
    `has shape ${listed(shape)}; experts are [experts, columns, rows]`,
  );
}
