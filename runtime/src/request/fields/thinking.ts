// The one internal switch behind reasoning, thinking, enable_thinking, chat_template_kwargs.enable_thinking and
// reasoning_effort: the template variable enable_thinking. Unless asked for, the server's default holds; if it has none,
// thinking is off on :predict, and as the chat template has it elsewhere.
// Templates that know more than on and off get reasoning_effort as well, as from vLLM.

import { never, nullableBoolean } from '../body/field-schemas.js';
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
const budgetTokens = { type: ['integer', 'null'], minimum: 0, maximum: 2147483647 } as const;
/** OpenRouter's object. Its clients send it to other servers too. */
const reasoning = {
  description: `${saysSwitched}, or {"enabled": true or false, "effort": ${reasoningEfforts.map((effort) => `"${effort}"`).join(', ')}, "max_tokens": TOKENS, "exclude": true or false}`,
  anyOf: [
    ...switched,
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabled: nullableBoolean,
        effort: { enum: [...reasoningEfforts, null] },
        max_tokens: budgetTokens,
        exclude: nullableBoolean,
      },
    },
  ],
} as const;
/** Anthropic's, which servers of DeepSeek's, Z.ai's and Moonshot's models take on chat. With `auto` the model decides. */
const thinking = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: { type: { enum: ['enabled', 'disabled', 'adaptive', 'auto'] }, budget_tokens: budgetTokens },
} as const;
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
  reasoning: { routes: rendered, schema: reasoning },
  thinking: { routes: rendered, schema: thinking },
  reasoning_effort: { routes: rendered, schema: { enum: reasoningEfforts } },
} as const satisfies FieldTable;

export const thinkingBudgetFields = {
  thinking_token_budget: {
    routes: templated,
    schema: { type: 'integer', minimum: -1, maximum: 2147483647 },
  },
} as const satisfies FieldTable;

export type ThinkingFields = TableValues<typeof thinkingFields & typeof thinkingBudgetFields>;

/** A value, by the field that says it; null and undefined: it does not. */
type Said<Value> = Readonly<Record<string, Value | null | undefined>>;

/**
 * What the fields agree on.
 * @throws ApiError invalid_request when two of them contradict
 */
function agreed<Value>(said: Said<Value>): Value | null {
  const [first, ...others] = Object.entries(said).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [{ name, value }],
  );
  const contrary = others.find(({ value }) => value !== first?.value);
  if (first === undefined) return null;
  if (contrary === undefined) return first.value;
  throw invalidRequest([violationAt(contrary.name, `contradicts ${first.name}`)]);
}

/** Members of the form that is an object. */
const inObject = ({ reasoning = {} }: ThinkingFields) => (typeof reasoning === 'object' ? reasoning : {});

const effortsOf = (fields: ThinkingFields) => ({
  reasoning_effort: fields.reasoning_effort,
  'reasoning.effort': inObject(fields).effort,
});

const budgetsOf = (fields: ThinkingFields): Said<number> => ({
  thinking_token_budget: fields.thinking_token_budget,
  'reasoning.max_tokens': inObject(fields).max_tokens,
  'thinking.budget_tokens': fields.thinking?.budget_tokens,
});

const thinksAs = { enabled: true, disabled: false, adaptive: null, auto: null } as const;

const thinksWith = <Value>(asked: Value | null | undefined, none: Value): boolean | null =>
  asked === undefined || asked === null ? null : asked !== none;

/** Where neither the request nor the server says; null: the template's own default holds. */
export const thinksUnlessSaid: Readonly<Record<GenerationKind, boolean | null>> = {
  chat: null,
  completions: null,
  predict: false,
  generate: null,
};

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
  const { enabled, effort, max_tokens: tokens } = inObject(fields);
  const asked = agreed({
    reasoning: typeof fields.reasoning === 'object' ? null : flag(fields.reasoning),
    'reasoning.enabled': enabled,
    'reasoning.effort': thinksWith(effort, 'none'),
    'reasoning.max_tokens': thinksWith(tokens, 0),
    'thinking.type': thinksAs[fields.thinking?.type ?? 'auto'],
    enable_thinking: flag(fields.enable_thinking),
    'chat_template_kwargs.enable_thinking': flag(fields.chat_template_kwargs?.enable_thinking),
    reasoning_effort: thinksWith(fields.reasoning_effort, 'none'),
  });
  return asked ?? unlessAsked ?? thinksUnlessSaid[kind];
}

/** The template's variables of a request, but for whether it thinks. */
export function readTemplateKwargs(fields: ThinkingFields): Fields {
  const effort = agreed(effortsOf(fields));
  const given = Object.entries(fields.chat_template_kwargs ?? {});
  return {
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...Object.fromEntries(given.filter(([name]) => name !== 'enable_thinking')),
  };
}

const flag = (value: boolean | number | string | null | undefined): boolean | null =>
  value === undefined || value === null ? null : yes.includes(String(value).toLowerCase());

export const violationsOfBudget = (
  fields: ThinkingFields,
  { minThinkingBudget: min }: Compatibility,
): Violation[] =>
  Object.entries(budgetsOf(fields)).flatMap(([name, budget]) =>
    typeof budget !== 'number' || budget >= min ? [] : violationAt(name, `must be at least ${String(min)}`),
  );

/** Tokens; null: without bound, which vLLM writes as -1. */
export function readThinkingBudget(fields: ThinkingFields): number | null {
  const budget = agreed(budgetsOf(fields)) ?? -1;
  return budget === -1 ? null : budget;
}

/** Whether the model reasons, and the client does not get it. */
export function omitsReasoning(
  fields: ThinkingFields & { readonly include_reasoning?: boolean | undefined },
): boolean {
  const { exclude } = inObject(fields);
  const includes = agreed({
    include_reasoning: fields.include_reasoning,
    'reasoning.exclude': typeof exclude === 'boolean' ? !exclude : null,
  });
  return includes === false;
}
