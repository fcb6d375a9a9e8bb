// What LoRA adapters take beside the base: room for as many as may be loaded at once, each of the largest rank and of every
// linear layer, so that a load never meets a full machine.

import {
  maxAdapterRank,
  projections,
  projectionSides,
  type ProjectionName,
} from '../adapters/projections.js';
import { ofLayer } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import type { Device } from '../weights/check-accelerator.js';
import type { EngineDtype } from '../weights/resident-weights.js';

/** How many adapters an engine may have at once, and of which rank. */
export interface AdapterRoom {
  /** 0: none. */
  readonly max: number;
  readonly maxRank: number;
}

export const noAdapters: AdapterRoom = { max: 0, maxRank: 0 };

/** Ranks of A and outputs of B are stored in whole groups of lanes (native/src/ops/low_rank.h). */
const rankLanes = 16;
const inLanes = (count: number): number => Math.ceil(count / rankLanes) * rankLanes;
/** Whose inputs ranks divide; of the others they divide the outputs. */
const byInputs: readonly ProjectionName[] = ['o_proj', 'down_proj'];

/** A matrix begins at a line of the cache. */
const lineBytes = 64;
const inLines = (bytes: number): number => Math.ceil(bytes / lineBytes) * lineBytes;
/** What a GPU has of each layer beside A and B: where they lie, of four products with three parts at most. */
const indexBytes = 4 * 3 * 64;

/** Bytes of one rank. */
export function adapterBytes(
  shape: ModelShape,
  tensor: number,
  { dtype, accelerator }: { readonly dtype: EngineDtype; readonly accelerator: Device },
  { max, maxRank }: AdapterRoom,
): number {
  if (max === 0) return 0;
  const width = inLanes(maxRank);
  const valueBytes = dtype === 'float32' ? 4 : 2;
  let bytes = accelerator === 'cpu' ? 0 : shape.layerKinds.length * indexBytes;
  for (const layer of shape.layerKinds.keys()) {
    for (const projection of projections) {
      const sides = projectionSides(shape, layer, projection);
      if (sides === null) continue;
      const { inputs, outputs } = sides;
      const split = byInputs.includes(projection);
      // A KV head that several ranks hold is whole on each.
      const own = split
        ? outputs
        : Math.max(Math.ceil(outputs / tensor), Math.min(outputs, ofLayer(shape, layer).headDim));
      bytes += inLines((split ? inputs / tensor : inputs) * width * valueBytes);
      bytes += inLines(inLanes(own) * maxRank * valueBytes);
    }
  }
  return max * bytes;
}

/** Between A and B, of each of three parts of a product: ranks times cuts of A's columns (kernels/low_rank.cu). */
const minSpread = 128;
/** Rows of one adapter in a list, twice as many as there may be. */
const tileBytes = 2 * 16;

/** What a GPU keeps for products with adapters. */
export function adapterWorkspaceBytes({ max, maxRank }: AdapterRoom, maxNumBatchedTokens: number): number {
  if (max === 0) return 0;
  const spread = maxRank > minSpread ? maxAdapterRank : minSpread;
  return maxNumBatchedTokens * (3 * spread * 4 + tileBytes);
}
