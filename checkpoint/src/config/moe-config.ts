// Mixture of experts in config.json: dimensions, and which layers stay dense.

import { type Architecture, withExperts } from './architectures.js';
import type { ConfigObject, FieldReader } from './config-fields.js';

export interface MoeDimensions {
  readonly experts: number;
  /** Experts that each row runs. */
  readonly topK: number;
  /** Width of one expert. */
  readonly ffn: number;
  /** Width of the expert that every row runs besides; 0 where there is none. */
  readonly sharedFfn: number;
}

/** Null for an architecture without experts. Violations are gathered in `fields`. */
export function readMoe(fields: FieldReader, architecture: Architecture): MoeDimensions | null {
  if (!withExperts.has(architecture)) return null;
  const moe = {
    // Newer releases name it num_local_experts.
    experts: fields.count(fields.has('num_local_experts') ? 'num_local_experts' : 'num_experts'),
    topK: fields.positive('num_experts_per_tok'),
    ffn: fields.positive('moe_intermediate_size'),
    sharedFfn: architecture === 'qwen3_moe' ? 0 : fields.positive('shared_expert_intermediate_size'),
  };
  fields.check(moe.topK <= moe.experts, 'num_experts_per_tok must not be more than the number of experts');
  return moe;
}

/** Layer i is dense if mlp_only_layers names it or decoder_sparse_step does not divide i + 1; never in qwen3_5_moe. */
export function hasDenseLayers(
  fields: FieldReader,
  text: ConfigObject,
  architecture: Architecture,
  layers: number,
): boolean {
  if (!withExperts.has(architecture)) return true;
  if (architecture === 'qwen3_5_moe') return false;
  const named = text['mlp_only_layers'] ?? [];
  fields.check(Array.isArray(named), 'mlp_only_layers must be a list');
  const isLayer = (value: unknown) => typeof value === 'number' && value >= 0 && value < layers;
  return fields.positive('decoder_sparse_step', 1) > 1 || (Array.isArray(named) && named.some(isLayer));
}
