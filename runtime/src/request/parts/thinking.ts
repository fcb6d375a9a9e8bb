// The one internal switch behind reasoning, enable_thinking, chat_template_kwargs.enable_thinking and reasoning_effort:
// the template variable enable_thinking. Off on :predict unless asked for; on chat the template's own default holds.
// Templates that know more than on and off get reasoning_effort as well, as from vLLM.

import type { GenerationKind } from '../body/request-fields.js';
import { invalidRequest, type Fields } from '../body/validate-body.js';

/** The template's variables of a request. @throws ApiError invalid_request when two of the names contradict */
export function readThinking(kind: GenerationKind, fields: Fields): Fields {
  const effort = fields['reasoning_effort'];
  const { enable_thinking: thinks, ...given } = (fields['chat_template_kwargs'] ?? {}) as Fields;
  const kwargs = effort === undefined ? given : { reasoning_effort: effort, ...given };
  const asked = Object.entries({
    reasoning: flag(fields['reasoning']),
    enable_thinking: fields['enable_thinking'],
    'chat_template_kwargs.enable_thinking': flag(thinks),
    reasoning_effort: effort === undefined ? undefined : effort !== 'none',
  }).filter(([, value]) => value !== undefined);

  const [first, ...others] = asked;
  const contrary = others.find(([, value]) => value !== first?.[1]);
  if (first !== undefined && contrary !== undefined) {
    throw invalidRequest([{ param: contrary[0], message: `${contrary[0]} contradicts ${first[0]}` }]);
  }
  if (first !== undefined) return { ...kwargs, enable_thinking: first[1] };
  return kind === 'predict' ? { ...kwargs, enable_thinking: false } : kwargs;
}

const flag = (value: unknown): boolean | undefined =>
  value === undefined || value === null ? undefined : value === true || value === 'true';

/** Tokens; null: without bound, which vLLM writes as -1. */
export function readThinkingBudget(fields: Fields): number | null {
  const budget = fields['thinking_token_budget'] as number | undefined;
  return budget === undefined || budget === -1 ? null : budget;
}
