// An adapter against its base before any memory is taken: what the operator refuses, the engine would refuse too.

import { FailureError } from '@llmservice/crds';
import type { ModelShape } from '../config/model-shape.js';
import type { PlacedTensor } from '../formats/safetensors-header.js';
import { parseAdapterConfig } from './adapter-config.js';
import { planAdapter, type LowRankPair } from './adapter-tensors.js';

/**
 * @param configText adapter_config.json
 * @param tensors of the header of its weights
 * @param maxRank that the memory plan has room for
 * @throws FailureError CheckpointCorrupt; InvalidEngineConfig naming keys, tensors and the rank with what was expected
 */
export function judgeAdapter(
  configText: string,
  tensors: readonly PlacedTensor[],
  shape: ModelShape,
  maxRank: number,
): LowRankPair[] {
  const pairs = planAdapter(parseAdapterConfig(configText), tensors, shape);
  const rank = Math.max(...pairs.map((pair) => pair.rank));
  if (rank <= maxRank) return pairs;
  throw new FailureError(
    'InvalidEngineConfig',
    `the adapter has rank ${String(rank)}; there is room for ranks to ${String(maxRank)} (engine.maxAdapterRank, --max-adapter-rank; up to 256)`,
    { rank, maxRank },
  );
}
