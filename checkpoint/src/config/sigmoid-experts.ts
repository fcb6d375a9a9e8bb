// What config.json says of experts that are scored by sigmoids, as DeepSeek-V3 introduced them and GLM 4.5 to 4.7 have them.

import { type FieldReader, quote, unsupported } from './config-fields.js';
import type { SigmoidRouting } from './model-shape.js';

/** What other models of this kind have in fields that these, as transformers reads them, do not have. */
const fixed = { scoring_func: 'sigmoid', topk_method: 'noaux_tc', moe_layer_freq: 1 } as const;

/** @throws FailureError UnsupportedArchitecture */
export function readSigmoidRouting(fields: FieldReader, experts: number, topK: number): SigmoidRouting {
  for (const [field, known] of Object.entries(fixed)) {
    const value = fields.value(field) ?? known;
    if (value !== known) {
      throw unsupported(`${field} ${quote(value)} is not supported, only ${quote(known)}`);
    }
  }
  const groups = fields.parts('n_group');
  const chosenGroups = fields.parts('topk_group');
  const size = experts / groups;
  fields.check(
    Number.isInteger(size) && size >= 2,
    `n_group ${String(groups)} does not divide n_routed_experts ${String(experts)} into groups of two or more`,
  );
  fields.check(chosenGroups <= groups, 'topk_group must not be more than n_group');
  fields.check(
    topK <= chosenGroups * size,
    `num_experts_per_tok must not be more than the experts of topk_group groups, ${String(chosenGroups * size)}`,
  );
  return { groups, chosenGroups, scale: fields.positiveNumber('routed_scaling_factor') ?? 1 };
}

/** Of the experts that every row runs, which are stored as one. */
export function sharedWidth(fields: FieldReader, ffn: number): number {
  const width = fields.parts('n_shared_experts') * ffn;
  fields.check(
    width <= 2 ** 30,
    `n_shared_experts of moe_intermediate_size are ${String(width)} wide together`,
  );
  return width;
}
