// The linear layers that an adapter may change, and their sides.

import { ofLayer } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';

export const maxAdapterRank = 256;

export const projections = [
  ...(['q_proj', 'k_proj', 'v_proj', 'o_proj'] as const),
  ...(['gate_proj', 'up_proj', 'down_proj'] as const),
] as const;
export type ProjectionName = (typeof projections)[number];

export interface Sides {
  readonly inputs: number;
  readonly outputs: number;
}

/** Of a linear layer of decoder layer `layer`; null where the architecture has none of that name there. */
export function projectionSides(shape: ModelShape, layer: number, projection: ProjectionName): Sides | null {
  const { hidden } = shape;
  const kind = shape.layerKinds[layer];
  if (kind === undefined) return null;
  const attends = kind === 'full' || shape.gdn === null;
  const isDense = (shape.feedForward[layer] ?? 'dense') === 'dense';
  const { headDim, kvHeads, keysAreValues, sharesKv, ffn } = ofLayer(shape, layer);
  const queries = shape.heads * headDim;
  const keys = kvHeads * headDim;
  switch (projection) {
    case 'q_proj':
      return attends ? { inputs: hidden, outputs: queries * (shape.outputGate ? 2 : 1) } : null;
    case 'k_proj':
    case 'v_proj':
      if (sharesKv || (projection === 'v_proj' && keysAreValues)) return null;
      return attends ? { inputs: hidden, outputs: keys } : null;
    case 'o_proj':
      return attends ? { inputs: queries, outputs: hidden } : null;
    case 'gate_proj':
    case 'up_proj':
      return isDense ? { inputs: hidden, outputs: ffn } : null;
    case 'down_proj':
      return isDense ? { inputs: ffn, outputs: hidden } : null;
  }
}

/** Whether layer `layer` never computes these keys or values, since it attends to those of an earlier one. */
export function isUnread(shape: ModelShape, layer: number, projection: ProjectionName): boolean {
  const exists = layer < shape.layerKinds.length;
  return exists && (projection === 'k_proj' || projection === 'v_proj') && ofLayer(shape, layer).sharesKv;
}
