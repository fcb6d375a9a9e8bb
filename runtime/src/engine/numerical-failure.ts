// What a request gets when it cannot continue: non-finite logits, and the layer that this was first seen in; or
// nothing can continue its structured output, or too slowly.

import type { Failure } from '@llmservice/crds';
import type { NumericalFault } from '@llmservice/native';

export function numericalFailure({ kind, layer, part, position }: NumericalFault): Failure {
  if (kind === 'deadEnd') {
    const message = `nothing continues the request's structured output, or its allowed_token_ids, bad_words and min_tokens leave no token, after token ${String(position)} of the sequence`;
    return { reason: 'GrammarInvalid', message };
  }
  if (kind === 'slowConstraint') {
    const message = `the request's structured output takes too long to follow after token ${String(position)} of the sequence: write it so that a text can be read in one way only, without repetitions of what may be empty`;
    return { reason: 'GrammarInvalid', message };
  }
  const where = layer === null ? part : `layer ${String(layer)}, ${part}`;
  const seen = {
    notFinite: 'a value that is not finite (NaN or infinity) came out of',
    collapsed: 'every token got the same logit, so that the logits carry no information, from',
    stuck:
      'one token came again and again with the same logits to the last bit, as if there were no context, from',
  };
  return {
    reason: 'EngineNumericalFault',
    message: `${seen[kind]} the model (${where}) at token ${String(position)} of the sequence`,
    detail: { kind, ...(layer === null ? {} : { layer }), part, position },
  };
}
