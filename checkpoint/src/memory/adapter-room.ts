// What LoRA adapters take beside the base: room for as many as may be loaded at once, each of the largest rank and of every
// linear layer, so that a load never meets a full machine.

import { FailureError } from '@llmservice/crds';
import { projections, projectionSides, type ProjectionName } from '../adapters/projections.js';
import { ofLayer } from '../config/layer-attention.js';
import type { ModelShape } from '../config/model-shape.js';
import type { Device } from '../weights/device-formats.js';
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

/** Bytes of one rank. */
export function adapterBytes(
  shape: ModelShape,
  tensor: number,
  dtype: EngineDtype,
  { max, maxRank }: AdapterRoom,
): number {
  const width = inLanes(maxRank);
  let values = 0;
  for (const layer of max === 0 ? [] : shape.layerKinds.keys()) {
    for (const projection of projections) {
      const sides = projectionSides(shape, layer, projection);
      if (sides === null) continue;
      const { inputs, outputs } = sides;
      const split = byInputs.includes(projection);
      // A KV head that several ranks hold is whole on each.
      const own = split
        ? outputs
        : Math.max(Math.ceil(outputs / tensor), Math.min(outputs, ofLayer(shape, layer).headDim));
      values += (split ? inputs / tensor : inputs) * width + inLanes(own) * maxRank;
    }
  }
  return max * values * (dtype === 'float32' ? 4 : 2);
}

/** @throws FailureError InvalidEngineConfig: GPUs have no kernels for adapters (`adapts` in native/src/ops/low_rank.h) */
export function checkAdapterDevice({ max }: AdapterRoom, accelerator: Device): void {
  if (max === 0 || accelerator === 'cpu') return;
  throw new FailureError(
    'InvalidEngineConfig',
    'LoRA adapters run on CPUs alone (accelerator.resourceName none): there are no GPU kernels for them. Remove ' +
      'adapters and engine.maxAdapters (--adapters, --adapters-dir, --max-adapters)',
  );
}
