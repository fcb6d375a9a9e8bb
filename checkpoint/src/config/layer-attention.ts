// What differs by layer: in some models, layers without a window have heads of another width and number than the others, and the
// last layers attend by keys and values of earlier ones.

import type { GlobalAttention, ModelShape } from './model-shape.js';

export interface LayerShape extends ModelShape {
  /** There is no v_proj: values are what k_proj gives. */
  readonly keysAreValues: boolean;
  /** There are neither: it attends by those of an earlier layer. */
  readonly sharesKv: boolean;
}

/** The same with this layer's attention and feed-forward as those of all, as ModelConfig::of_layer() in native/src/model/config.h. */
export function ofLayer(shape: ModelShape, layer: number): LayerShape {
  const isGlobal = shape.windows[layer] === 0;
  const sharesKv = layer >= firstSharingLayer(shape);
  const { ffn } = (sharesKv ? shape.sharedKv : null) ?? shape;
  return { ...shape, keysAreValues: false, sharesKv, ffn, ...(isGlobal ? shape.globalAttention : null) };
}

/** The first of those that have no keys and values of their own. */
function firstSharingLayer({ layerKinds, sharedKv }: ModelShape): number {
  return layerKinds.length - (sharedKv?.layers ?? 0);
}

type Heads = Pick<GlobalAttention, 'kvHeads' | 'headDim'>;

/** Each kind of attention heads that the model has. */
export function headsOf(shape: ModelShape): Heads[] {
  return shape.globalAttention === null ? [shape] : [shape, shape.globalAttention];
}

/** Layers with KV whose heads are those of layers without a window. */
export function countGlobalLayers(shape: ModelShape): number {
  if (shape.globalAttention === null) return 0;
  return shape.windows.slice(0, firstSharingLayer(shape)).filter((window) => window === 0).length;
}

/** Widths of dense feed-forward layers. */
export function feedForwardWidths({ ffn, sharedKv }: ModelShape): number[] {
  return [ffn, sharedKv?.ffn ?? 0];
}
