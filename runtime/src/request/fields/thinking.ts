// The one internal switch behind reasoning, enable_thinking, chat_template_kwargs.enable_thinking and reasoning_effort:
// the template variable enable_thinking. Unless asked for, the server's default holds; if it has none, thinking is
// off on :predict, and as the chat template has it elsewhere.
// Templates that know more than on and off get reasoning_effort as well, as from vLLM.

import { never } from '../body/field-schemas.js';
import {
  rendered,
  templated,
  type FieldTable,
  type Fields,
  type GenerationKind,
  type TableValues,
} from '../body/field-table.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import type { Compatibility } from '../compatibility.js';

/** What OpenAI's clients may ask for: `none` is no reasoning, and all others are passed to the chat template. */
export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** Texts for true, of any case: forms, environments and Python send them. Source: Python's strtobool. */
const yes = ['true', 't', 'yes', 'y', 'on', '1'];
const no = ['false', 'f', 'no', 'n', 'off', '0'];
const inAnyCase = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
const switched = [
  { type: 'boolean' },
  { enum: [0, 1] },
  { type: 'string', pattern: `^(${[...yes, ...no].map(inAnyCase).join('|')})$` },
] as const;
const saysSwitched = 'true or false, or a text such as "true" or "no"';
const spelledBoolean = { description: saysSwitched, anyOf: switched } as const;
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
        enable_thinking: { description: saysSwitched, anyOf: [...switched, never] },
      },
    },
  },
  enable_thinking: { routes: rendered, schema: spelledBoolean },
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

/**
 * Whether a conversation is thought about; null: the template's own default holds.
 * @param unlessAsked where the request does not say
 * @throws ApiError invalid_request when two of the names contradict
 */
export function readThinks(
  kind: GenerationKind,
  fields: ThinkingFields,
  unlessAsked: boolean | null,
): boolean | null {
  const { reasoning_effort: effort, chat_template_kwargs: kwargs } = fields;
  const asked = Object.entries({
    reasoning: flag(fields.reasoning),
    enable_thinking: flag(fields.enable_thinking),
    'chat_template_kwargs.enable_thinking': flag(kwargs?.enable_thinking),
    reasoning_effort: effort === undefined ? null : effort !== 'none',
  }).filter(([, value]) => value !== null);

  const [first, ...others] = asked;
  const contrary = others.find(([, value]) => value !== first?.[1]);
  if (first !== undefined && contrary !== undefined) {
    throw invalidRequest([violationAt(contrary[0], `contradicts ${first[0]}`)]);
  }
  return first?.[1] ?? unlessAsked ?? (kind === 'predict' ? false : null);
}

/** The template's variables of a request. */
export function readTemplateKwargs(
  { reasoning_effort: effort, chat_template_kwargs: given = {} }: ThinkingFields,
  thinks: boolean | null,
): Fields {
  const others = Object.entries(given).filter(([name]) => name !== 'enable_thinking');
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...Object.fromEntries(others),
    ...(thinks === null ? {} : { enable_thinking: thinks }),
  };
}

const flag = (value: boolean | number | string | null | undefined): boolean | null =>
  value === undefined || value === null ? null : yes.includes(String(value).toLowerCase());

export function violationsOfBudget(
  { thinking_token_budget: budget }: TableValues<typeof thinkingBudgetFields>,
  { minThinkingBudget: min }: Compatibility,
): Violation[] {
  return budget === undefined || budget >= min
    ? []
    : [violationAt('thinking_token_budget', `must be at least ${String(min)}`)];
}

/** Tokens; null: without bound, which vLLM writes as -1. */
export function readThinkingBudget({
  thinking_token_budget: budget = -1,
}: TableValues<typeof thinkingBudgetFields>): number | null {
  return budget === -1 ? null : budget;
}
