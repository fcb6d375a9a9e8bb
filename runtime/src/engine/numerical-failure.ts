// What a request is told when its numbers mean nothing: what was seen, and the layer that it was first seen in.

import type { Failure } from '@llmservice/crds';
import type { NumericalFault } from '@llmservice/native';

export function numericalFailure({ kind, layer, part, position }: NumericalFault): Failure {
  const where = layer === null ? part : `layer ${String(layer)}, ${part}`;
  const seen = {
    notFinite: 'a value that is not finite (NaN or infinity) came out of',
    collapsed: 'every token got the same logit, so that the model tells nothing, from',
    stuck:
      'one token came again and again with the same logits to the last bit, as if there were no context, from',
  };
  return {
    reason: 'EngineNumericalFault',
    message: `${seen[kind]} the model (${where}) at token ${String(position)} of the sequence`,
    detail: { kind, ...(layer === null ? {} : { layer }), part, position },
  };
}
