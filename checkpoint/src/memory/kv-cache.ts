// Bytes of the paged KV cache. In fp8 every token's K and V of every head are e4m3 codes under a float32 scale of their
// own, so that what one sequence stores never depends on another.

import { countGlobalLayers } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import { dtypeBytes, type EngineDtype } from '../weights/resident-weights.js';

/** `auto` keeps KV in the engine's dtype. */
export type KvCacheDtype = 'auto' | 'fp8';

const scaleBytes = 4;

/** K and V of one token on one rank: only full-attention layers keep them, and of these those that attend by their own; KV heads replicate beyond tp = kvHeads. */
export function kvBytesPerToken(
  shape: ModelShape,
  tensor: number,
  dtype: EngineDtype,
  kvCacheDtype: KvCacheDtype,
  attentionLayers: number,
): number {
  const perLayer = ({ kvHeads, headDim }: { kvHeads: number; headDim: number }): number => {
    const perHead = kvCacheDtype === 'fp8' ? headDim + scaleBytes : headDim * dtypeBytes(dtype);
    return 2 * Math.max(1, kvHeads / tensor) * perHead;
  };
  const global = countGlobalLayers(shape);
  const own = attentionLayers - (shape.sharedKv?.layers ?? 0);
  return (own - global) * perLayer(shape) + global * perLayer(shape.globalAttention ?? shape);
}
