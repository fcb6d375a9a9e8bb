// Bodies of OpenAI's Responses as the requests that other routes make, with what the answer repeats of them. Pure.

import { ApiError, type Wording } from '../body/api-error.js';
import type { Fields } from '../body/field-table.js';
import { invalidRequest } from '../body/violation.js';
import type { GenerationDefaults } from '../fields/generation-defaults.js';
import { sealedReasoning, textLogprobs } from '../fields/responses-fields.js';
import type { RawItem } from '../fields/responses-input.js';
import type { RawFunction } from '../fields/responses-tools.js';
import type { BodyOf, GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';
import {
  conversationOf,
  violationsOfLength,
  violationsOfStoring,
  withReferenced,
  type EarlierItems,
} from './earlier-items.js';
import { readRequest, type ApiRequest } from './parse-request.js';
import { refuseMedia } from './refuse-media.js';
import { readItems } from './response-items.js';
import { flatName, flatTools, type FlatTools } from './tool-namespaces.js';

type ResponsesFields = BodyOf<'responses'>;

export interface ResponsesRequest {
  readonly parsed: ApiRequest;
  /** As the client set them. */
  readonly fields: ResponsesFields;
  /** What the answer is generated from: the conversation that the request continues, and its own input. */
  readonly items: readonly RawItem[];
  /** Id of the conversation that it belongs to; null: none. */
  readonly conversation: string | null;
  /** Its own input among the items. */
  readonly asked: readonly RawItem[];
  /** Whether the response is to be stored. */
  readonly stores: boolean;
  /** Whether reasoning is also returned encrypted. */
  readonly sealsReasoning: boolean;
  /** Functions in namespaces, by the names that the model calls them by. */
  readonly namespaced: FlatTools['namespaced'];
  readonly custom: FlatTools['custom'];
}

/** Errors of what the route has in common with others name the fields as it does. */
export const responsesWordings: readonly Wording[] = [
  { ours: /\btools\.(\d+)\.function\b/g, theirs: 'tools.$1' },
  { ours: /\bresponse_format\.json_schema\b/g, theirs: 'text.format' },
  { ours: /\bresponse_format\b/g, theirs: 'text.format' },
  { ours: /\bmax_tokens\b/g, theirs: 'max_output_tokens' },
  { ours: /needs logprobs: true/g, theirs: `needs include: ["${textLogprobs}"]` },
  { ours: /^messages\b/, theirs: 'input' },
];

/**
 * @param earlier null: nothing is stored here
 * @throws ApiError invalid_request, with every violation
 */
export function parseResponses(
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
  earlier: EarlierItems | null = null,
): ResponsesRequest {
  refuseMedia((body as Fields | null)?.['input'], 'input');
  const fields = validateBody('responses', withReferenced(body, earlier));
  const { input, ...others } = fields;
  const asked = itemsOf(input);
  const items = [...(earlier?.conversation ?? []), ...asked];
  const violations = [...violationsOfStoring(fields, earlier !== null), ...violationsOfLength(items, fields)];
  if (violations.length > 0) throw invalidRequest(violations);
  const stores = earlier !== null && fields.store !== false;
  const { include = [], tools = [] } = fields;
  const { functions, namespaced, custom, places } = flatTools(tools);
  try {
    const parsed = readRequest('chat', chatFields(others, items, functions), defaults, randomSeed);
    const sealsReasoning = include.includes(sealedReasoning);
    const conversation = conversationOf(fields);
    return { fields, items, asked, conversation, stores, parsed, sealsReasoning, namespaced, custom };
  } catch (error) {
    throw error instanceof ApiError ? error.worded(places) : error;
  }
}

const itemsOf = (input: ResponsesFields['input']): readonly RawItem[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;

/** The same request in the fields of a chat. */
function chatFields(
  fields: Omit<ResponsesFields, 'input'>,
  items: readonly RawItem[],
  functions: readonly RawFunction[],
): GenerationFields {
  const { instructions, max_output_tokens, tool_choice, text, reasoning, include, ...same } = fields;
  return {
    ...same,
    messages: [
      ...(instructions === undefined ? [] : [{ role: 'system', content: instructions } as const]),
      ...readItems(items),
    ],
    max_tokens: max_output_tokens,
    logprobs: include?.includes(textLogprobs),
    tools: functions.map(readTool),
    tool_choice: typeof tool_choice === 'object' ? readChoice(tool_choice) : tool_choice,
    response_format: responseFormat(text?.format ?? null),
    reasoning_effort: reasoning?.effort ?? undefined,
  };
}

/** Templates show tools as they get them: what says nothing stays away. */
function readTool({
  type,
  name,
  description,
  parameters,
  strict,
}: RawFunction): NonNullable<GenerationFields['tools']>[number] {
  return {
    type,
    function: {
      name,
      ...(description ? { description } : {}),
      ...(parameters ? { parameters } : {}),
      ...(strict ? { strict } : {}),
    },
  };
}

type ObjectChoice = Extract<ResponsesFields['tool_choice'], object>;

function readChoice(choice: ObjectChoice): GenerationFields['tool_choice'] {
  if (choice.type !== 'allowed_tools') return named(choice);
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.tools.map(named) } };
}

const named = ({ name, namespace }: Exclude<ObjectChoice, { type: 'allowed_tools' }>) =>
  ({ type: 'function', function: { name: flatName(name, namespace) } }) as const;

type TextFormat = NonNullable<NonNullable<ResponsesFields['text']>['format']>;

function responseFormat(format: TextFormat | null): GenerationFields['response_format'] {
  if (format === null) return undefined;
  const { type, schema, ...described } = format;
  return type === 'json_schema' && schema !== undefined
    ? { type, json_schema: { ...described, schema } }
    : { type, schema: schema ?? null };
}
