// The one internal switch behind reasoning, enable_thinking, chat_template_kwargs.enable_thinking and reasoning_effort:
// the template variable enable_thinking. Off on :predict unless asked for; on chat the template's own default holds.
// Templates that know more than on and off get reasoning_effort as well, as from vLLM.

import { boolean, never } from '../body/field-schemas.js';
import {
  rendered,
  templated,
  type FieldTable,
  type Fields,
  type GenerationKind,
  type TableValues,
} from '../body/field-table.js';
import { invalidRequest, violationAt } from '../body/violation.js';

/** What OpenAI's clients may ask for: `none` is no reasoning, and all others are passed to the chat template. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Forms and environments send it as a text. */
const spelledBoolean = { enum: [true, false, 'true', 'false'] } as const;
/** A variable that a chat template gets from the rest of the request; see chat-template.ts. */
const beside = (name: string) =>
  ({ ...never, description: `send ${name} beside chat_template_kwargs` }) as const;

export const thinkingFields = {
  chat_template_kwargs: {
    routes: [...rendered, 'responses'],
    schema: {
      type: 'object',
      properties: {
        messages: beside('messages'),
        tools: beside('tools'),
        documents: beside('documents'),
        add_generation_prompt: beside('add_generation_prompt'),
        enable_thinking: { enum: [...spelledBoolean.enum, null] },
      },
    },
  },
  enable_thinking: { routes: rendered, schema: boolean },
  reasoning: { routes: rendered, schema: spelledBoolean },
  reasoning_effort: { routes: rendered, schema: { enum: reasoningEfforts } },
} as const satisfies FieldTable;

export const thinkingBudgetFields = {
  thinking_token_budget: {
    routes: templated,
    schema: { type: 'integer', minimum: -1, maximum: 2147483647 },
  },
} as const satisfies FieldTable;

type ThinkingFields = TableValues<typeof thinkingFields>;

/** The template's variables of a request. @throws ApiError invalid_request when two of the names contradict */
export function readThinking(kind: GenerationKind, fields: ThinkingFields): Fields {
  const { reasoning_effort: effort, chat_template_kwargs = {} } = fields;
  const { enable_thinking: thinks, ...given } = chat_template_kwargs;
  const kwargs = effort === undefined ? given : { reasoning_effort: effort, ...given };
  const asked = Object.entries({
    reasoning: flag(fields.reasoning),
    enable_thinking: fields.enable_thinking,
    'chat_template_kwargs.enable_thinking': flag(thinks),
    reasoning_effort: effort === undefined ? undefined : effort !== 'none',
  }).filter(([, value]) => value !== undefined);

  const [first, ...others] = asked;
  const contrary = others.find(([, value]) => value !== first?.[1]);
  if (first !== undefined && contrary !== undefined) {
    throw invalidRequest([violationAt(contrary[0], `contradicts ${first[0]}`)]);
  }
  if (first !== undefined) return { ...kwargs, enable_thinking: first[1] };
  return kind === 'predict' ? { ...kwargs, enable_thinking: false } : kwargs;
}

const flag = (value: unknown): boolean | undefined =>
  value === undefined || value === null ? undefined : value === true || value === 'true';

/** Tokens; null: without bound, which vLLM writes as -1. */
export function readThinkingBudget({
  thinking_token_budget: budget = -1,
}: TableValues<typeof thinkingBudgetFields>): number | null {
  return budget === -1 ? null : budget;
}
