// The layer for multi-token prediction where a checkpoint comes without one: it is taken from another release of the
// same model, engine.speculative.uri, in that release's own format. Pure.

import type { ModelShape } from '../config/model-shape.js';
import { FailureError } from '@llmservice/crds';
import type { TensorEntry } from '../formats/safetensors-header.js';
import type { SafetensorsIndex } from '../formats/safetensors-index.js';

/** The layer as a paired checkpoint has it. */
export interface MtpHead {
  /** Of the paired checkpoint. */
  readonly shape: ModelShape;
  /** Those of the layer alone. */
  readonly tensors: readonly TensorEntry[];
}

/** The matrix that no such layer is without. */
export const mtpMark = 'mtp.fc.weight';

export function isOfMtp(tensor: string): boolean {
  return tensor.startsWith('mtp.');
}

export function hasMtp(tensors: Iterable<{ readonly name: string }>): boolean {
  for (const { name } of tensors) if (name === mtpMark) return true;
  return false;
}

/** The weight files of a checkpoint that hold the layer. */
export function filesWithMtp({ weightMap }: SafetensorsIndex): string[] {
  return [...new Set([...weightMap].filter(([tensor]) => isOfMtp(tensor)).map(([, file]) => file))].sort();
}

/**
 * @throws FailureError InvalidEngineConfig with everything in which the head is another model's, or where it is none
 */
export function checkMtpHead(uri: string, { shape, tensors }: MtpHead, trunk: ModelShape): void {
  if (!hasMtp(tensors)) throw refused(uri, [`it has no tensor ${mtpMark}`]);
  const wrong: string[] = [];
  // Embedding and output head are the trunk's, so that no tensor of the layer shows the vocabulary.
  if (shape.vocab !== trunk.vocab) {
    wrong.push(
      `config.json has vocab_size ${String(shape.vocab)} where the model has ${String(trunk.vocab)}`,
    );
  }
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const [module, expected] of expectedShapes(trunk)) {
    const found = byName.get(`${module}.weight`) ?? byName.get(`${module}.weight_packed`);
    if (found === undefined || shapeOf(found).join() === expected.join()) continue;
    wrong.push(`${found.name} has shape ${listed(shapeOf(found))} where the model takes ${listed(expected)}`);
  }
  if (wrong.length > 0) throw refused(uri, wrong);
}

/** Of a layer on that trunk. Its width alone depends on how many experts it has, if any. */
function expectedShapes(trunk: ModelShape): [module: string, shape: readonly number[]][] {
  const { hidden, heads, kvHeads, headDim, ffn, moe } = trunk;
  const attention = 'mtp.layers.0.self_attn';
  const mlp = 'mtp.layers.0.mlp';
  return [
    ['mtp.fc', [hidden, 2 * hidden]],
    ['mtp.norm', [hidden]],
    [`${attention}.k_proj`, [kvHeads * headDim, hidden]],
    [`${attention}.v_proj`, [kvHeads * headDim, hidden]],
    [`${attention}.o_proj`, [hidden, heads * headDim]],
    [`${attention}.q_norm`, [headDim]],
    [`${mlp}.down_proj`, [hidden, ffn]],
    ...(moe === null ? [] : ([[`${mlp}.gate`, [moe.experts, hidden]]] as const)),
  ] as [string, readonly number[]][];
}

/** In values: two of NVFP4 share a byte. */
function shapeOf({ dtype, shape }: TensorEntry): readonly number[] {
  const [rows = 0, bytes = 0] = shape;
  return dtype === 'U8' && shape.length === 2 ? [rows, 2 * bytes] : shape;
}

function listed(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

function refused(uri: string, wrong: readonly string[]): FailureError {
  return new FailureError(
    'InvalidEngineConfig',
    `engine.speculative.uri ${uri} has no head for this model: ${wrong.join('; ')}. Name another release of the same ` +
      'model that has the layer for multi-token prediction',
  );
}
