// Attention by layer: in some models, layers without a window have heads of another width and number than the others.

import type { GlobalAttention, ModelShape } from './model-shape.js';

export interface LayerShape extends ModelShape {
  /** There is no v_proj: values are what k_proj gives. */
  readonly keysAreValues: boolean;
}

/** The same with this layer's attention as that of all, as ModelConfig::of_layer() in native/src/model/config.h. */
export function ofLayer(shape: ModelShape, layer: number): LayerShape {
  const isGlobal = shape.windows[layer] === 0;
  return { ...shape, keysAreValues: false, ...(isGlobal ? shape.globalAttention : null) };
}

type Heads = Pick<GlobalAttention, 'kvHeads' | 'headDim'>;

/** Each kind of attention heads that the model has. */
export function headsOf(shape: ModelShape): Heads[] {
  return shape.globalAttention === null ? [shape] : [shape, shape.globalAttention];
}

/** Layers whose heads are those of layers without a window. */
export function countGlobalLayers(shape: ModelShape): number {
  return shape.globalAttention === null ? 0 : shape.windows.filter((window) => window === 0).length;
}
